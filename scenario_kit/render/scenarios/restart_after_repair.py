"""Add restarts to repairs after which pods or programs do not recover by themselves.

Apps declare in ``aftermath`` of ``app.yaml`` which components do not recover from an outage, such as a client that
never reconnects. StatefulSets that start their pods one after another wait for a broken pod before they replace it,
even if their template is repaired (https://github.com/kubernetes/kubernetes/issues/67250). Without the restart,
repairing the cause would not end the incident, and the label could not be verified.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from scenario_kit.model import App, Change, Entity, Fault, Object, Reference, Solution
from scenario_kit.render.faults.applicability import find_affected_component


class _Restart(NamedTuple):
    """A workload to restart after a repair: how, and why."""

    workload: Reference
    drop_old: bool
    because: str


def complete_fault(fault: Fault, app: App, objects: Sequence[Object]) -> Fault:
    """Add the necessary restarts to the fixes and solutions of a fault.

    ``objects`` are the app's, in its conventional namespace.
    """
    hit = find_affected_component(app, objects, fault.target, fault)
    lasting = app.outlasting(hit.name) if hit is not None else ()
    needed = [_Restart(c.workload, drop_old=False, because=because) for c, because in lasting]
    needed += _list_waiting(fault, objects)
    if not needed:
        return fault
    removed = Change.from_json({"removeFault": {"fault": fault.name}})
    alone = len(fault.causes) == 1

    def repaired(entity: Entity) -> Entity:
        fix = entity.fix or ((removed,) if alone else ())
        if entity.role != "Cause" or not fix:
            return entity
        return msgspec.structs.replace(entity, fix=_add_restarts(fix, needed))

    return msgspec.structs.replace(
        fault,
        entities=tuple(map(repaired, fault.entities)),
        solutions=tuple(_explain_restart(solution, needed) for solution in fault.solutions),
    )


def _list_waiting(fault: Fault, objects: Sequence[Object]) -> Iterator[_Restart]:
    """Yield the StatefulSets that keep the pods of a broken template: their rollout goes through zero pods."""
    ordered = {
        o["metadata"]["name"]
        for o in objects
        if o["kind"] == "StatefulSet" and o["spec"].get("podManagementPolicy", "OrderedReady") == "OrderedReady"
    }
    because = "a StatefulSet does not replace a pod that is not ready"
    for change in fault.changes:
        ref = change.operation.ref
        if ref is None or ref.kind != "StatefulSet" or ref.name not in ordered or change.operation.restarts:
            continue
        if any(drops for _, drops in change.operation.list_rollouts(fault.rollout.drop_old)):
            yield _Restart(ref, drop_old=True, because=because)


def _explain_restart(solution: Solution, needed: Sequence[_Restart]) -> Solution:
    changes = _add_restarts(solution.changes, needed)
    if changes == solution.changes:
        return solution
    reasons = "; ".join(dict.fromkeys(each.because for each in needed))
    reported = f"{solution.description}; then restart who does not recover by itself: {reasons}"
    return msgspec.structs.replace(solution, changes=changes, description=reported)


def _add_restarts(changes: Sequence[Change], needed: Sequence[_Restart]) -> tuple[Change, ...]:
    """Append a restart of each workload that the changes do not already restart."""
    done = {c.operation.about(None) for c in changes if c.operation.restarts}
    missing = {each.workload.bare: each for each in needed if each.workload.bare not in done}
    return (*changes, *map(_build_change, missing.values()))


def _build_change(each: _Restart) -> Change:
    how = {"dropOld": True} if each.drop_old else {}
    return Change.from_json({"restart": {"target": each.workload, **how}})
