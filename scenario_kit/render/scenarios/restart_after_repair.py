"""Add restarts to repairs for components that do not recover from an outage by themselves.

Apps declare these in ``aftermath`` of ``app.yaml``, such as a client that never reconnects. Without the restart,
repairing the cause would not end the incident, and the label could not be verified.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scenario_kit.model import App, Change, Component, Entity, Fault, Object, Solution
from scenario_kit.render.faults.applicability import find_affected_component


def complete_fault(fault: Fault, app: App, objects: Sequence[Object]) -> Fault:
    """Add the necessary restarts to the fixes and solutions of a fault.

    ``objects`` are the app's, in its conventional namespace.
    """
    hit = find_affected_component(app, objects, fault.target, fault)
    lasting = app.outlasting(hit.name) if hit is not None else ()
    if not lasting:
        return fault
    removed = Change.from_json({"removeFault": {"fault": fault.name}})
    alone = len(fault.causes) == 1

    def repaired(entity: Entity) -> Entity:
        fix = entity.fix or ((removed,) if alone else ())
        if entity.role != "Cause" or not fix:
            return entity
        return msgspec.structs.replace(entity, fix=_add_restarts(fix, [c for c, _ in lasting]))

    return msgspec.structs.replace(
        fault,
        entities=tuple(map(repaired, fault.entities)),
        solutions=tuple(_explain_restart(solution, lasting) for solution in fault.solutions),
    )


def _explain_restart(solution: Solution, lasting: Sequence[tuple[Component, str]]) -> Solution:
    changes = _add_restarts(solution.changes, [c for c, _ in lasting])
    if changes == solution.changes:
        return solution
    reasons = "; ".join(dict.fromkeys(because for _, because in lasting))
    reported = f"{solution.description}; then restart who does not recover by itself: {reasons}"
    return msgspec.structs.replace(solution, changes=changes, description=reported)


def _add_restarts(changes: Sequence[Change], lasting: Sequence[Component]) -> tuple[Change, ...]:
    """Append a restart of each component that the changes do not already restart."""
    done = {c.operation.about(None) for c in changes if c.operation.restarts}
    missing = [c.workload for c in lasting if c.workload.bare not in done]
    return (*changes, *(Change.from_json({"restart": {"target": workload}}) for workload in missing))
