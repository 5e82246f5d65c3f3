"""PromQL text to its tree, within bounds: the parser, and whoever walks the tree, goes as deep as the text nests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final

from scenario_kit.model.grid import GRID_SECONDS

#: Words and marks of one expression; the parser's time and memory grow with their square.
MOST_TOKENS: Final = 1_000
#: Levels of one expression: brackets, and operators behind each other.
MOST_LEVELS: Final = 100
#: Between two samples of a series, and two points of a subquery that does not say it.
_SCRAPE: Final = timedelta(seconds=GRID_SECONDS)
_EVALUATION: Final = timedelta(minutes=1)
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_CHILDREN: Final = ("lhs", "rhs", "param", "expr", "vector_selector")


def parse_expression(expr: str) -> Any:
    """Parse the root of the tree of an expression.

    Raises:
        ValueError: not PromQL, too long, or nested too deep.
    """
    tree, problem = _parse_cached(expr)
    if problem:
        raise ValueError(problem)
    return tree


def walk(node: Any) -> Iterator[Any]:
    """Return a node and everything below it, in the order of the text."""
    left = [node]
    while left:
        node = left.pop()
        yield node
        left += reversed(list_children(node))


def list_children(node: Any) -> list[Any]:
    """List the nodes right below one."""
    found = [getattr(node, name, None) for name in _CHILDREN]
    return [child for child in (*found, *getattr(node, "args", ())) if child is not None]


def points(expr: str) -> int:
    """Return of how many points of time one evaluation of an expression asks, where it asks of most.

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
    """Parse the tree, or what is wrong: rules ask for the same expression again and again."""
    import promql_parser  # here, because most commands read no rules

    if (tokens := len(_TOKEN.findall(expr))) > MOST_TOKENS:
        return None, f"it has {tokens} words and marks; an expression may have {MOST_TOKENS}"
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
