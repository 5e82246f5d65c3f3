"""Walk the propagation from root causes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

_Node = TypeVar("_Node", bound=Hashable)


def find_reachable(roots: Iterable[_Node], edges: Iterable[tuple[_Node, _Node]]) -> set[_Node]:
    """Return the nodes to which edges lead from the roots, including these."""
    return set(list_reachable(roots, edges))


def list_reachable(roots: Iterable[_Node], edges: Iterable[tuple[_Node, _Node]]) -> list[_Node]:
    """List the nodes to which edges lead from the roots: these first, then the nearest, in the order of the edges."""
    reached, pairs = dict.fromkeys(roots), list(edges)
    while more := dict.fromkeys(end for start, end in pairs if start in reached and end not in reached):
        reached |= more
    return list(reached)
