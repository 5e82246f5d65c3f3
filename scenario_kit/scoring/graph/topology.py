"""Dependency graph for repeated queries, with up to hundreds of thousands of nodes."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

_NO_LENGTHS: Final[Mapping[str, float]] = {}


class TopologyNode(NamedTuple):
    """A node. In a service graph, kind and namespace are empty."""

    id: str
    name: str
    kind: str = ""
    namespace: str = ""


class TopologyEdge(NamedTuple):
    """``source`` depends on, owns or calls ``target``; ``relation`` is the file's term for it."""

    source: str
    target: str
    relation: str = ""


class Topology:
    """Nodes and the edges between them; duplicate edges and self-loops are dropped.

    ``edges`` is the number of undirected edges, as NTAM counts them.
    """

    def __init__(self, nodes: Iterable[TopologyNode], edges: Sequence[TopologyEdge]) -> None:
        self.nodes: Final = {node.id: node for node in nodes}
        self._neighbours: Final[dict[str, dict[str, list[str]]]] = {id: {} for id in self.nodes}
        self._dependents: Final[dict[str, list[str]]] = {}
        self._distances: Final[dict[tuple[str, tuple[tuple[str, float], ...]], dict[str, float]]] = {}
        count = 0
        for source, target, relation in edges:
            if source == target:
                continue
            between = self._neighbours[source].get(target)
            if between is None:
                between = self._neighbours[source][target] = self._neighbours[target][source] = []
                count += 1
            if relation not in between:
                between.append(relation)
            self._dependents.setdefault(target, []).append(source)
        self.edges: Final = count

    def count_neighbours(self, id: str) -> int:
        """Count the neighbours of a node (its degree)."""
        return len(self._neighbours[id])

    def measure_distances(self, source: str, lengths: Mapping[str, float] = _NO_LENGTHS) -> Mapping[str, float]:
        """Return the shortest distances from a node to all reachable nodes, cached.

        Args:
            source: a node.
            lengths: edge lengths by relation, 1 by default.
        """
        key = (source, tuple(sorted(lengths.items())))
        if key not in self._distances:
            self._distances[key] = self._walk_weighted(source, lengths) if lengths else self._walk(source)
        return self._distances[key]

    def list_dependents(self, ids: Iterable[str]) -> set[str]:
        """Return the nodes themselves and their transitive dependants."""
        found = {id for id in ids if id in self.nodes}
        todo = deque(found)
        while todo:
            for other in self._dependents.get(todo.popleft(), ()):
                if other not in found:
                    found.add(other)
                    todo.append(other)
        return found

    def _walk(self, source: str) -> dict[str, float]:
        found, edge, hops = {source: 0.0}, [source], 0.0
        while edge:
            hops += 1.0
            following = []
            for id in edge:
                for other in self._neighbours[id]:
                    if other not in found:
                        found[other] = hops
                        following.append(other)
            edge = following
        return found

    def _walk_weighted(self, source: str, lengths: Mapping[str, float]) -> dict[str, float]:
        found: dict[str, float] = {}
        todo = [(0.0, source)]
        while todo:
            distance, id = heapq.heappop(todo)
            if id in found:
                continue
            found[id] = distance
            for other, relations in self._neighbours[id].items():
                if other not in found:
                    step = min(lengths.get(relation, 1.0) for relation in relations)
                    heapq.heappush(todo, (distance + step, other))
        return found
