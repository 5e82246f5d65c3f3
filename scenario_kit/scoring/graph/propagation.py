"""The propagation of a ground truth over alias classes: order, paths from roots, and hops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from scenario_kit.scoring.entities.truth import CausalEdge
from scenario_kit.scoring.matching.matcher import TruthIndex

#: Maximum number of paths. Published ground truths have fewer than twenty edges.
MAX_PATHS: Final = 1_000


def list_class_edges(index: TruthIndex) -> list[tuple[str, str, CausalEdge]]:
    """List the edges between classes, without those inside one class or with an unknown end."""
    of_group = {group.id: each.id for each in index.classes for group in each.groups}
    found = [(of_group.get(edge.source, ""), of_group.get(edge.target, ""), edge) for edge in index.truth.edges]
    return [(source, target, edge) for source, target, edge in found if source and target and source != target]


def order_nodes(edges: Iterable[tuple[str, str]], first: Iterable[str] = ()) -> list[str]:
    """Order nodes topologically; ties and cycles are resolved by order of mention.

    ``first`` are nodes that count as mentioned before all edges.
    """
    pairs = list(dict.fromkeys(edges))
    names = list(dict.fromkeys([*first, *(end for pair in pairs for end in pair)]))
    left = {name: sum(target == name for _, target in pairs) for name in names}
    ordered: list[str] = []
    while left:
        following = next((name for name in left if left[name] == 0), None) or next(iter(left))
        del left[following]
        ordered.append(following)
        for source, target in pairs:
            if source == following and target in left:
                left[target] -= 1
    return ordered


def order_truth(index: TruthIndex) -> list[str]:
    """Order the classes of the propagation, roots first."""
    roots = [each.id for each in index.roots]
    return order_nodes([(source, target) for source, target, _ in list_class_edges(index)], roots)


def list_paths(index: TruthIndex) -> list[tuple[str, ...]]:
    """List the simple paths from roots to ends of the propagation; a root without successors is a path of its own.

    Raises:
        ValueError: there are more than ``MAX_PATHS``.
    """
    following = _collect_targets((source, target) for source, target, _ in list_class_edges(index))
    paths: list[tuple[str, ...]] = []
    todo: list[tuple[str, ...]] = [(each.id,) for each in reversed(index.roots)]
    while todo:
        path = todo.pop()
        further = [target for target in following.get(path[-1], ()) if target not in path]
        if not further:
            paths.append(path)
        todo += [(*path, target) for target in reversed(further)]
        if len(paths) + len(todo) > MAX_PATHS:
            raise ValueError(f"the propagation has more than {MAX_PATHS} paths")
    return paths


def measure_hops(edges: Iterable[tuple[str, str]], sources: Sequence[str]) -> dict[str, int]:
    """Measure the hops along undirected edges from the nearest source to every reachable node."""
    pairs = list(edges)
    beside = _collect_targets([*pairs, *((target, source) for source, target in pairs)])
    found = dict.fromkeys(sources, 0)
    todo = list(found)
    for name in todo:  # grows during iteration
        for other in beside.get(name, ()):
            if other not in found:
                found[other] = found[name] + 1
                todo.append(other)
    return found


def _collect_targets(edges: Iterable[tuple[str, str]]) -> Mapping[str, list[str]]:
    targets: dict[str, list[str]] = {}
    for source, target in dict.fromkeys(edges):
        targets.setdefault(source, []).append(target)
    return targets
