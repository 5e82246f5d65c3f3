"""A field of an object, or a change, that is not admitted."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from scenario_kit.model.json_document import Place

#: Cluster capabilities for access to nodes and to their kernel.
NODE: Final = "node-access"
KERNEL: Final = "kernel"


class Breach(NamedTuple):
    """A field that is not admitted: code, place, value and message.

    ``declared`` is the declaration that would admit it: a capability in ``requires``, the scope ``Cluster``, or the
    name of an exception. If empty, no declaration admits it. ``fix`` replaces the fix that its code has for all.
    """

    code: str
    keys: Place
    value: Any
    note: str
    declared: str = ""
    expected: str = ""
    fix: str = ""
