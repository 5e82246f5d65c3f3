"""Walk the propagation from root causes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

_Node = TypeVar("_Node", bound=Hashable)


def find_reachable(roots: Iterable[_Node], edges: Iterable[tuple[_Node, _Node]]) -> set[_Node]:
    """Return the nodes to which edges lead from the roots, including these."""
    reached, pairs = set(roots), list(edges)
    while more := {end for start, end in pairs if start in reached} - reached:
        reached |= more
    return reached
