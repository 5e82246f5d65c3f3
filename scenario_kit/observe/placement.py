"""Placement of pods on nodes. Pure.

The scheduler chooses randomly among equally good nodes and has no seed. Placements are therefore recorded, and a report
states how many different ones its repeats covered.
"""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.model import App, Object
from scenario_kit.observe.entities import find_by_name


def map_placement(pods: Iterable[Object], app: App) -> dict[str, tuple[str, ...]]:
    """Map each workload to the nodes of its scheduled pods, sorted by name."""
    found: dict[str, list[str]] = {}
    for pod in pods:
        if node := pod["spec"].get("nodeName"):
            found.setdefault(find_by_name(pod["metadata"]["name"], app), []).append(node)
    return {workload: tuple(sorted(nodes)) for workload, nodes in sorted(found.items())}
