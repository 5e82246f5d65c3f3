"""The effect of a scenario's faults in a comparable form, independent of the names of fault types.

Generated names are left out, and so is the way in which a field is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from scenario_kit.lint.simulation.applied_changes import AppliedChange, apply_changes
from scenario_kit.lint.simulation.field_diff import find_changed, pair_changed
from scenario_kit.model import App, Fault, Object

#: Marks how a change reaches running processes.
REACH: Final = "reach"
#: Fields whose value is the mechanism.
_REPORTED: Final = frozenset({"data", "stringData", "binaryData", "command", "args"})


def compute_effects(app: App, objects: Sequence[Object], faults: Iterable[Fault | None]) -> list[list[Any]]:
    """Return for each fault, in order, what its changes write, and how they reach running processes (``REACH``).

    Empty if a fault is None (it could not be rendered) or has no observable writes.
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


def list_object_names(done: Sequence[Sequence[Any]]) -> set[str]:
    """Return the names of the written objects without their kinds."""
    return {str(one[1]).rpartition("/")[2] for each in done for one in each if one[0] == "field"}


def strip_values(done: Sequence[Sequence[Any]]) -> list[Any]:
    """Drop the values of written fields, unless the value is the mechanism.

    It is for files and commands, for created objects, and for changes that leave no trace in an object.
    """
    return [
        list(one[:3]) if one[0] == "field" and not _REPORTED.intersection(map(str, one[2])) else one for one in done
    ]


def _compute_effect(fault: Fault, objects: Sequence[Object], app: App) -> tuple[list[Any], Sequence[Object]]:
    """Return what one fault writes, sorted, and the resulting objects."""
    found: dict[str, Any] = {}
    for applied in apply_changes(objects, fault.changes, app):
        for one in _describe_change(applied, app):
            found[json.dumps(one, sort_keys=True, default=str)] = one
        objects = applied.after
    return [found[key] for key in sorted(found)], objects


def _describe_change(applied: AppliedChange, app: App) -> Iterator[Any]:
    """Yield what one change writes."""
    change = applied.change
    if body := change.operation.manifest:
        metadata = {k: v for k, v in (body.get("metadata") or {}).items() if k not in ("name", "labels", "annotations")}
        yield ["object", {**body, "metadata": metadata}]
    elif not change.operation.visible or (applied.error and not change.operation.restarts):
        yield ["act", change.to_json()]
    elif not change.operation.restarts:
        old, later = pair_changed(applied.before, applied.after, app.namespace)
        for ref in old:
            bare = str(ref.groupless)
            if ref not in later:
                yield ["field", bare, [], "gone"]
            else:
                yield from (["field", bare, list(path), value] for path, value in find_changed(old[ref], later[ref]))
