"""What the faults of a scenario really change, as it is compared with others: types may have any name.

Names that are drawn tell nothing; nor does in which way a field is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.lint.simulation.field_diff import find_changed
from scenario_kit.model import App, Change, Fault, Object
from scenario_kit.model.kubernetes.reference import make_reference

#: Marks how the change reaches processes that run already.
REACH: Final = "reach"
#: Fields of which the value is the mechanism.
_REPORTED: Final = frozenset({"data", "stringData", "binaryData", "command", "args"})


def compute_effects(app: App, objects: Sequence[Object], faults: Iterable[Fault | None]) -> list[list[Any]]:
    """Tell for each fault, in order, what its changes write, and how that reaches what runs (``REACH``).

    Empty where a fault is None, which could not be rendered, or where what one does cannot be told from what it writes.
    """
    found: list[list[Any]] = []
    for fault in faults:
        if fault is None:
            return []
        done, objects = _compute_effect(fault, objects, app)
        if not done:
            return []
        found.append([*done, [REACH, fault.rollout.to_json()]])
    return found


def list_writes(fault: Fault, objects: Sequence[Object], app: App) -> list[Any]:
    """Return what one fault writes, in a form that can be compared."""
    return _compute_effect(fault, objects, app)[0]


def names(done: Sequence[Sequence[Any]]) -> set[str]:
    """Return the names of the objects that are written, without their kinds."""
    return {str(one[1]).rpartition("/")[2] for each in done for one in each if one[0] == "field"}


def strip_values(done: Sequence[Sequence[Any]]) -> list[Any]:
    """Return which fields of which objects are written, with whatever value; all of what is said only by a value.

    That is what files and commands hold, what a created object is, and what leaves no trace in an object.
    """
    return [
        list(one[:3]) if one[0] == "field" and not _REPORTED.intersection(map(str, one[2])) else one for one in done
    ]


def _compute_effect(fault: Fault, objects: Sequence[Object], app: App) -> tuple[list[Any], Sequence[Object]]:
    """Compute what one fault writes, sorted, and the objects as they are then."""
    found: dict[str, Any] = {}
    for change in fault.changes:
        new: Sequence[Object] | None
        try:
            new = change.operation.simulate(objects, app, app.namespace)
        except AuthoringError:
            new = None  # another rule says so
        for one in _describe_change(change, objects, new, app):
            found[json.dumps(one, sort_keys=True, default=str)] = one
        objects = objects if new is None else new
    return [found[key] for key in sorted(found)], objects


def _describe_change(
    change: Change, objects: Sequence[Object], new: Sequence[Object] | None, app: App
) -> Iterator[Any]:
    """Describe what one change writes; ``new`` are the objects after it, None where it concerns one that no
    app brings.
    """
    if body := change.operation.manifest:
        metadata = {k: v for k, v in (body.get("metadata") or {}).items() if k not in ("name", "labels", "annotations")}
        yield ["object", {**body, "metadata": metadata}]
    elif not change.operation.visible or (new is None and not change.operation.restarts):
        yield ["act", change.to_json()]
    elif new is not None and not change.operation.restarts:
        old = {make_reference(obj, app.namespace): obj for obj in objects}
        later = {make_reference(obj, app.namespace): obj for obj in new}
        for ref in old:
            bare = str(ref.groupless)
            if ref not in later:
                yield ["field", bare, [], "gone"]
            elif later[ref] is not old[ref]:
                yield from (["field", bare, list(path), value] for path, value in find_changed(old[ref], later[ref]))
