"""What a repair needs beyond its cause: who goes on being broken once a component was out has to start anew.

An app says so of itself (``aftermath`` in ``app.yaml``): a client that never recovers from an outage, a registry that
nobody tells again. No author can know, and no cause could be proven, as repairing it alone would not end the incident.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scenario_kit.model import App, Change, Component, Entity, Fault, Object, Solution
from scenario_kit.model.kubernetes.reference import strip_reference
from scenario_kit.render.faults.applicability import find_component_hit


def complete_fault(fault: Fault, app: App, objects: Sequence[Object]) -> Fault:
    """Complete the fault, whose fixes and solutions also restart whoever does not recover from what it breaks.

    ``objects`` are the app's, in its conventional namespace.
    """
    hit = find_component_hit(app, objects, fault.target, fault)
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
    """Return the changes, and a restart of each component that they do not restart anyway."""
    done = {c.operation.about(None) for c in changes if c.operation.restarts}
    missing = [c.workload for c in lasting if strip_reference(c.workload) not in done]
    return (*changes, *(Change.from_json({"restart": {"target": workload}}) for workload in missing))
