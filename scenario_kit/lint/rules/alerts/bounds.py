"""Compute bounds of the result of a PromQL expression, for any series."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import inf
from typing import Any, Final, NamedTuple

from scenario_kit.lint.rules.alerts.promql import read_number
from scenario_kit.load.promql import parser


class ValueBounds(NamedTuple):
    """The least and the greatest value; ``sure`` if there always is a result.

    ``counts`` marks a count of series or a constant per series: its mere presence carries information.
    """

    low: float = -inf
    high: float = inf
    sure: bool = False
    counts: bool = False


ANY: Final = ValueBounds()
_NONE_BELOW: Final = ValueBounds(0)
_ONE: Final = ValueBounds(1, 1, counts=True)
#: Functions with non-negative results, and functions that keep the bounds of their argument.
_POSITIVE: Final = frozenset(
    {"rate", "increase", "irate", "changes", "resets", "abs", "sqrt", "exp", "stddev_over_time", "stdvar_over_time",
     "histogram_count", "timestamp", "minute", "hour", "day_of_week", "day_of_month", "day_of_year", "month", "year",
     "days_in_month"}
)  # fmt: skip
_KEEPING: Final = frozenset(
    {"min_over_time", "max_over_time", "avg_over_time", "last_over_time", "first_over_time", "quantile_over_time",
     "sort", "sort_desc", "sort_by_label", "sort_by_label_desc", "label_replace", "label_join"}
)  # fmt: skip
#: Metrics without negative values.
_COUNTED: Final = re.compile(r"kube_\w+|container_\w+|up|\w+_(total|count|sum|bucket|bytes|milliseconds|seconds)")
COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">": lambda a, b: a > b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


def holds_always(bounds: ValueBounds, operator: str, other: ValueBounds) -> bool:
    """Return whether a comparison holds for all pairs of values."""
    match operator:
        case ">" | ">=":
            return COMPARISONS[operator](bounds.low, other.high)
        case "<" | "<=":
            return COMPARISONS[operator](bounds.high, other.low)
        case "==":
            return bounds.low == bounds.high == other.low == other.high
        case _:
            return bounds.high < other.low or bounds.low > other.high


def holds_never(bounds: ValueBounds, operator: str, other: ValueBounds) -> bool:
    """Return whether a comparison holds for no pair of values."""
    opposite = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "==": "!=", "!=": "=="}
    return holds_always(bounds, opposite[operator], other)


def compute_bounds(node: Any) -> ValueBounds:
    """Compute the bounds of an expression."""
    kind = type(node).__name__
    if (value := read_number(node)) is not None:
        return ValueBounds(value, value, sure=True)
    match kind:
        case "ParenExpr" | "SubqueryExpr" | "StepInvariantExpr":
            return compute_bounds(node.expr)
        case "UnaryExpr":
            inner = compute_bounds(node.expr)
            return ValueBounds(-inner.high, -inner.low, inner.sure)
        case "Call":
            return _bound_call(node)
        case "AggregateExpr":
            return _bound_aggregate(node)
        case "BinaryExpr":
            return _bound_binary(node)
        case "VectorSelector" | "MatrixSelector":
            return _NONE_BELOW if _COUNTED.fullmatch(_name(node)) else ANY
    return ANY


def _name(node: Any) -> str:
    selector = getattr(node, "vector_selector", None) or node
    return str(selector.name or "")


def _bound_call(node: Any) -> ValueBounds:
    name = str(getattr(node.func, "name", ""))
    arguments = list(node.args)
    inner = compute_bounds(arguments[0]) if arguments else ANY
    if name in _KEEPING or name == "vector":
        return inner
    if name in ("absent", "absent_over_time", "present_over_time"):
        return _ONE
    if name == "count_over_time":
        return ValueBounds(1, counts=True)
    if name == "time":
        return ValueBounds(0, sure=True)
    if name == "sgn":
        return ValueBounds(-1, 1)
    if name in ("clamp", "clamp_min", "clamp_max"):
        limits = [value for each in arguments[1:] if (value := read_number(each)) is not None]
        low = limits[0] if limits and name != "clamp_max" else inner.low
        high = limits[-1] if limits and name != "clamp_min" else inner.high
        return ValueBounds(max(inner.low, low), min(inner.high, high), inner.sure)
    return _NONE_BELOW if name in _POSITIVE else ANY


def _bound_aggregate(node: Any) -> ValueBounds:
    operator, inner = str(node.op), compute_bounds(node.expr)
    match operator:
        case "count":
            return ValueBounds(1, sure=inner.sure, counts=True)
        case "group":
            return ValueBounds(1, 1, inner.sure, counts=True)
        case "sum":
            return ValueBounds(
                inner.low if inner.low >= 0 else -inf, inner.high if inner.high <= 0 else inf, inner.sure
            )
        case "stddev" | "stdvar":
            return ValueBounds(0, sure=inner.sure)
        case "count_values":
            return ValueBounds(1, counts=True)
    return inner


def _bound_binary(node: Any) -> ValueBounds:
    operator, left, right = str(node.op), compute_bounds(node.lhs), compute_bounds(node.rhs)
    sure = left.sure and right.sure
    if operator == "-" and _is_same(node):
        return ValueBounds(0, 0, sure)
    if operator == "*" and (left[:2] == (0, 0) or right[:2] == (0, 0)):
        return ValueBounds(0, 0, sure)
    match operator:
        case "or":
            counts = left.counts and right.counts
            return ValueBounds(min(left.low, right.low), max(left.high, right.high), left.sure or right.sure, counts)
        case "and" | "unless":
            return left._replace(sure=False)
        case "+":
            return ValueBounds(left.low + right.low, left.high + right.high, sure)
        case "-":
            return ValueBounds(left.low - right.high, left.high - right.low, sure)
        case "*" | "/" if left.low >= 0 and right.low >= 0:
            return ValueBounds(0, sure=sure)
        case _ if operator in COMPARISONS:
            return _bound_comparison(node, operator, left, right, sure)
    return ANY._replace(sure=sure)


def _bound_comparison(node: Any, operator: str, left: ValueBounds, right: ValueBounds, sure: bool) -> ValueBounds:
    if returns_bool(node):
        if _is_constant(node, left, right):
            result = 1 if _is_same(node) or holds_always(left, operator, right) else 0
            return ValueBounds(result, result, sure, counts=left.counts or right.counts)
        return ValueBounds(0, 1, sure)
    kept, other = (right, left) if read_number(node.lhs) is not None else (left, right)
    low, high = kept.low, kept.high
    if operator in (">", ">=") and kept is left:
        low = max(low, other.low)
    elif operator in ("<", "<=") and kept is left:
        high = min(high, other.high)
    elif operator == "==":
        low, high = max(low, other.low), min(high, other.high)
    return ValueBounds(low, high, counts=kept.counts)


def _is_same(node: Any) -> bool:
    """Return whether both sides are the same expression."""
    return bool(node.lhs.prettify() == node.rhs.prettify())


def _is_constant(node: Any, left: ValueBounds, right: ValueBounds) -> bool:
    """Return whether a comparison has the same result for all values."""
    operator = str(node.op)
    if _is_same(node):
        return operator in ("==", ">=", "<=")
    return holds_always(left, operator, right) or holds_never(left, operator, right)


def returns_bool(node: Any) -> bool:
    """Return whether a comparison has the modifier `bool`."""
    return bool(getattr(node.modifier, "return_bool", False)) if node.modifier is not None else False


def find_constant_comparisons(expr: str) -> list[str]:
    """Find comparisons that hold for all possible values, or for none.

    A comparison of a count is left out: ``count(x) > 0`` asks whether there are series.

    Raises:
        ValueError: not PromQL.
    """
    found = []
    for node in parser.walk(parser.parse_expression(expr)):
        operator = str(getattr(node, "op", ""))
        if type(node).__name__ != "BinaryExpr" or operator not in COMPARISONS:
            continue
        left, right = compute_bounds(node.lhs), compute_bounds(node.rhs)
        if left.counts or right.counts:
            continue
        if _is_constant(node, left, right):
            found.append(" ".join(node.prettify().split()))
    return found
