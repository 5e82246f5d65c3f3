"""Extract matchers from the text of PromQL expressions, and numbers from their syntax trees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final, NamedTuple

from scenario_kit.load.promql import parser

_MATCHER: Final = re.compile(r"""\b([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""")

#: Comparisons with their sides exchanged.
TURNED: Final = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


class Matcher(NamedTuple):
    """A label matcher; ``start`` and ``end`` delimit its value in the expression, without the quotes."""

    label: str
    operator: str
    value: str
    start: int
    end: int


class Comparison(NamedTuple):
    """A comparison of an expression with a number."""

    left: Any
    operator: str
    number: float


def list_matchers(expr: str) -> Iterator[Matcher]:
    """Yield the label matchers of an expression in order."""
    for found in _MATCHER.finditer(expr):
        yield Matcher(found[1], found[2], found[3][1:-1], found.start(3) + 1, found.end(3) - 1)


def walk(expr: str) -> Iterator[Any]:
    """Yield the nodes of an expression's syntax tree.

    Raises:
        ValueError: not PromQL.
    """
    yield from parser.walk(parser.parse_expression(expr))


def list_comparisons(expr: str) -> Iterator[Comparison]:
    """Yield all comparisons with a number, normalised to have it on the right."""
    for node in walk(expr):
        operator = str(getattr(node, "op", ""))
        if type(node).__name__ != "BinaryExpr" or operator not in (*TURNED, "==", "!="):
            continue
        left, right = read_number(node.lhs), read_number(node.rhs)
        if right is not None:
            yield Comparison(node.lhs, operator, right)
        elif left is not None:
            yield Comparison(node.rhs, TURNED.get(operator, operator), left)


def read_number(node: Any) -> float | None:
    """Return the value of a constant; None for other nodes."""
    kind = type(node).__name__
    if kind == "NumberLiteral":
        return float(node.val)
    if kind == "ParenExpr":
        return read_number(node.expr)
    if kind == "UnaryExpr":
        inner = read_number(node.expr)
        return -inner if inner is not None else None
    return None


def list_numbers(expr: str) -> set[float]:
    """Return all numbers of an expression, including thresholds and quantiles."""
    return {value for node in walk(expr) if (value := read_number(node)) is not None}


def list_durations(expr: str) -> set[float]:
    """Return all ranges, resolutions and offsets of an expression, in seconds."""
    found = (getattr(node, name, None) for node in walk(expr) for name in ("range", "step", "offset"))
    return {duration.total_seconds() for duration in found if isinstance(duration, timedelta)}


def split_alternatives(pattern: str) -> list[str]:
    """Split a regular expression at its top-level bars."""
    parts, depth, current, escaped = [], 0, "", False
    for char in pattern:
        if char == "|" and not depth and not escaped:
            parts.append(current)
            current = ""
            continue
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0) if not escaped else 0
        escaped = char == "\\" and not escaped
        current += char
    return [*parts, current]
