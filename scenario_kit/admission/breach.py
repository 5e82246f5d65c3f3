"""What is found: a field of an object, or a change, that is not admitted."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

#: Steps from the root of an object to a part of it.
Keys = tuple[str | int, ...]

#: Capabilities of a cluster that stand for access to its nodes and to their kernel.
NODE: Final = "node-access"
KERNEL: Final = "kernel"


class Breach(NamedTuple):
    """A field that is not admitted: its code, where it stands, what it holds, and what is to be said of it.

    ``declared`` is what a fault would have to declare to be allowed it: a capability in ``requires``, the scope
    ``Cluster``, or the name of an exception. Where it is empty, nothing can allow it.
    """

    code: str
    keys: Keys
    value: Any
    note: str
    declared: str = ""
    expected: str = ""
