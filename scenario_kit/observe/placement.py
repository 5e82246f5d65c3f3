"""Placement: on which nodes the pods of each workload run. Pure.

The scheduler draws among equally good nodes by itself, and no seed reaches it; so where pods were is not chosen, but
written down, and a report says on how many different placements its repeats rest.
"""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.model import App, Object
from scenario_kit.observe.entities import find_by_name


def map_placement(pods: Iterable[Object], app: App) -> dict[str, tuple[str, ...]]:
    """Return the nodes of each workload, one for each of its pods, in order of name; without pods that have none."""
    found: dict[str, list[str]] = {}
    for pod in pods:
        if node := pod["spec"].get("nodeName"):
            found.setdefault(find_by_name(pod["metadata"]["name"], app), []).append(node)
    return {workload: tuple(sorted(nodes)) for workload, nodes in sorted(found.items())}
