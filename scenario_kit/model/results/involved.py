"""List the objects that are part of an incident."""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.model.authored.fault import Fault
from scenario_kit.model.authored.scenario import Expect, PropagationEdge
from scenario_kit.model.kubernetes.reference import strip_reference


def list_involved(faults: Iterable[Fault], expect: Expect, edges: Iterable[PropagationEdge]) -> set[str]:
    """Return the objects that faults name or write, must-fire alerts, and propagation nodes, as ``Kind/name``."""
    named = {text for f in faults for text in (f.target, *f.callers, *(e.ref for e in f.entities))}
    named |= {c.target for f in faults for c in f.changes if c.target}
    named |= {e.entity for e in expect.alerts if e.entity and e.alert_class == "MustFire"}
    named |= {end for edge in edges for end in (edge.from_, edge.to)}
    return {"/".join(strip_reference(text)) for text in named}
