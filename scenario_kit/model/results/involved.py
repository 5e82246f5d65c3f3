"""List the objects that are part of an incident."""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.model.authored.fault import Fault
from scenario_kit.model.authored.scenario import Expect, PropagationEdge


def list_involved(faults: Iterable[Fault], expect: Expect, edges: Iterable[PropagationEdge]) -> set[tuple[str, str]]:
    """Return kind and name of what faults name or write, must-fire alerts name, and the propagation connects."""
    named = {ref for f in faults for ref in (f.target, *f.callers, *(e.ref for e in f.entities))}
    named |= {ref for f in faults for c in f.changes if (ref := c.operation.ref)}
    named |= {e.entity for e in expect.alerts if e.entity and e.alert_class == "MustFire"}
    named |= {end for edge in edges for end in (edge.from_, edge.to)}
    return {ref.bare for ref in named}
