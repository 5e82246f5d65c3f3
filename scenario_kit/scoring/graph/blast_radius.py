"""Objects that a solver changed beyond the repair, and their dependants."""

from __future__ import annotations

from collections.abc import Iterable, Set

import msgspec

from scenario_kit.scoring.graph.topology import Topology


class ChangedObjects(msgspec.Struct, frozen=True):
    """Changes beyond the documented repairs.

    ``unneeded`` counts such objects; ``share`` is the fraction of topology nodes that are such an object or depend on
    one, None without a topology.
    """

    unneeded: int
    share: float | None = None


def measure_blast_radius(changed: Set[str], repaired: Set[str], topology: Topology | None = None) -> ChangedObjects:
    """Measure the blast radius of a run's changes.

    There is no published definition. Each object counts once, and dependants follow directed edges transitively.
    """
    unneeded = changed - repaired
    share = None if topology is None else _measure_share(topology, unneeded)
    return ChangedObjects(unneeded=len(unneeded), share=share)


def _measure_share(topology: Topology, changed: Iterable[str]) -> float:
    return len(topology.list_dependents(changed)) / len(topology.nodes) if topology.nodes else 0.0
