"""Parse PromQL within bounds: parser and tree walks recurse as deep as the expression nests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final

from scenario_kit.model.grid import GRID_SECONDS

#: Maximum number of tokens; time and memory of the parser grow quadratically.
MOST_TOKENS: Final = 1_000
#: Maximum depth of the tree.
MOST_LEVELS: Final = 100
#: Distance between samples, and the default step of a subquery.
_SCRAPE: Final = timedelta(seconds=GRID_SECONDS)
_EVALUATION: Final = timedelta(minutes=1)
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_CHILDREN: Final = ("lhs", "rhs", "param", "expr", "vector_selector")


def parse_expression(expr: str) -> Any:
    """Parse an expression and return the root of its tree.

    Raises:
        ValueError: invalid PromQL, too long, or nested too deep.
    """
    tree, problem = _parse_cached(expr)
    if problem:
        raise ValueError(problem)
    return tree


def walk(node: Any) -> Iterator[Any]:
    """Yield a node and all its descendants, in the order of the text."""
    left = [node]
    while left:
        node = left.pop()
        yield node
        left += reversed(list_children(node))


def list_selectors(node: Any) -> list[Any]:
    """Return all selectors of series below a node, or the node itself, in the order of the text."""
    return [each for each in walk(node) if type(each).__name__ == "VectorSelector"]


def list_children(node: Any) -> list[Any]:
    """Return the children of a node."""
    found = [getattr(node, name, None) for name in _CHILDREN]
    return [child for child in (*found, *getattr(node, "args", ())) if child is not None]


def points(expr: str) -> int:
    """Return the maximum number of points per series that one evaluation reads.

    Raises:
        ValueError: as ``parse_expression``.
    """
    return int(_points(parse_expression(expr)))


def _points(node: Any) -> float:
    below = max((_points(child) for child in list_children(node)), default=1.0)
    reach = getattr(node, "range", None)
    step = getattr(node, "step", None) or (_EVALUATION if type(node).__name__ == "SubqueryExpr" else _SCRAPE)
    return below * max(1.0, reach / step) if reach else below


@lru_cache(maxsize=256)
def _parse_cached(expr: str) -> tuple[Any, str]:
    """Return the tree or an error; rules parse the same expression repeatedly."""
    import promql_parser  # imported late: most commands need no PromQL

    if (tokens := len(_TOKEN.findall(expr))) > MOST_TOKENS:
        return None, f"it has {tokens} tokens; an expression may have {MOST_TOKENS}"
    try:
        tree = promql_parser.parse(expr)
    except ValueError as error:
        return None, str(error)
    level = [tree]
    for _ in range(MOST_LEVELS):
        level = [child for node in level for child in list_children(node)]
        if not level:
            return tree, ""
    return None, f"it nests deeper than {MOST_LEVELS} levels"
