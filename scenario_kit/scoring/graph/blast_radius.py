"""What a solver changed beside the repair, and how much of the system that could reach."""

from __future__ import annotations

from collections.abc import Iterable, Set

import msgspec

from scenario_kit.scoring.graph.topology import Topology


class ChangedObjects(msgspec.Struct, frozen=True):
    """``unneeded``: objects that were changed and that no documented repair changes. ``share``: of all nodes of the
    topology, those that are such an object or depend on one; None without a topology.
    """

    unneeded: int
    share: float | None = None


def measure_blast_radius(changed: Set[str], repaired: Set[str], topology: Topology | None = None) -> ChangedObjects:
    """Measure the blast radius of what a run changed.

    The field has no published definition. Here an object counts once however often it was changed, and dependants are
    those along directed edges, transitively.
    """
    unneeded = changed - repaired
    share = None if topology is None else _measure_share(topology, unneeded)
    return ChangedObjects(unneeded=len(unneeded), share=share)


def _measure_share(topology: Topology, changed: Iterable[str]) -> float:
    return len(topology.list_dependents(changed)) / len(topology.nodes) if topology.nodes else 0.0
