"""List the objects that are part of an incident."""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.model.authored.fault import Fault
from scenario_kit.model.authored.propagation import find_reachable
from scenario_kit.model.authored.scenario import Expect, PropagationEdge


def list_involved(faults: Iterable[Fault], expect: Expect, edges: Iterable[PropagationEdge]) -> set[tuple[str, str]]:
    """Return kind and name of what faults break or write, must-fire alerts name, and the propagation connects.

    Where alerts name objects, only the propagation that leads to them counts: no alert confirms the rest. Nor is an
    object part of the incident that a fault only names as its victim.
    """
    known = list(faults)
    named = {ref for f in known for ref in (f.target, *f.callers, *(e.ref for e in f.causes))}
    named |= {ref for f in known for c in f.changes if (ref := c.operation.ref)}
    promised = {e.entity.bare for e in expect.alerts if e.entity and e.alert_class == "MustFire"}
    pairs = [(edge.from_.bare, edge.to.bare) for edge in edges]
    ends = {end for pair in pairs for end in pair}
    confirmed = find_reachable(promised, ((to, from_) for from_, to in pairs)) if promised else ends
    return {ref.bare for ref in named} | promised | (ends & confirmed)
