"""Differences of two expressions that are known although their values are not: x + 1 - x, or the age of a sample."""

from __future__ import annotations

from math import inf, isclose
from typing import Any, Final, NamedTuple

from scenario_kit.lint.rules.alerts.promql import read_number
from scenario_kit.lint.rules.alerts.query_values.metric_bounds import tells_past
from scenario_kit.lint.rules.alerts.query_values.term_relations import get_function, matches_by_all_labels, strip

#: How far Prometheus looks back for the latest sample of a series, in seconds (`--query.lookback-delta`).
_LOOKBACK: Final = 300.0
#: Aggregations whose result is one of the aggregated values, or between them.
_BETWEEN: Final = ("max", "min", "avg", "quantile", "topk", "bottomk")


class _Linear(NamedTuple):
    """An expression as factors of other expressions, by their text, and a constant."""

    factors: dict[str, float]
    constant: float
    nodes: dict[str, Any]


def bound_difference(node: Any) -> tuple[float, float] | None:
    """Return the bounds of the difference of the two sides of an operation; None if nothing is known of it.

    Equal terms cancel out. The time now, minus that of a sample or of an event, is an age.
    """
    if not matches_by_all_labels(node):
        return None
    left, right = _read(node.lhs), _read(node.rhs)
    if not (left.factors or right.factors):
        return None
    joined = _join(left, right, -1)
    factors = {text: factor for text, factor in joined.factors.items() if not isclose(factor, 0, abs_tol=1e-9)}
    if not factors:
        return (joined.constant, joined.constant) if left.factors else None
    return _bound_age(factors, joined)


def _bound_age(factors: dict[str, float], joined: _Linear) -> tuple[float, float] | None:
    """Return the bounds of a multiple of now minus a time in the past, plus a constant."""
    clocks = [text for text in factors if get_function(joined.nodes[text]) == "time"]
    others = [text for text in factors if text not in clocks]
    if len(clocks) != 1 or len(others) != 1 or not isclose(factors[clocks[0]], -factors[others[0]]):
        return None
    oldest = _find_oldest(joined.nodes[others[0]])
    if oldest is None:
        return None
    ends = joined.constant, joined.constant + factors[clocks[0]] * oldest
    return min(ends), max(ends)


def _find_oldest(node: Any) -> float | None:
    """Return how old a time may be, in seconds; None if it is not known to be in the past."""
    node = strip(node)
    if type(node).__name__ == "AggregateExpr" and str(node.op) in _BETWEEN:
        return _find_oldest(node.expr)
    if get_function(node) == "timestamp":
        sample = strip(node.args[0])
        recent = type(sample).__name__ == "VectorSelector" and sample.offset is None and sample.at is None
        return _LOOKBACK if recent else inf
    return inf if type(node).__name__ == "VectorSelector" and tells_past(node) else None


def _read(node: Any) -> _Linear:
    if (value := read_number(node)) is not None:
        return _Linear({}, value, {})
    kind = type(node).__name__
    if kind == "ParenExpr":
        return _read(node.expr)
    if kind == "UnaryExpr":
        return _scale(_read(node.expr), -1)
    if kind == "BinaryExpr" and matches_by_all_labels(node):
        operator, left, right = str(node.op), read_number(node.lhs), read_number(node.rhs)
        if operator in ("+", "-"):
            return _join(_read(node.lhs), _read(node.rhs), 1 if operator == "+" else -1)
        if operator == "*" and (factor := left if left is not None else right) is not None:
            return _scale(_read(node.rhs if left is not None else node.lhs), factor)
        if operator == "/" and right:
            return _scale(_read(node.lhs), 1 / right)
    if kind == "AggregateExpr" and str(node.op) == "sum":
        return _read_sum(node)
    if get_function(node) == "increase":  # the rate, times the range
        text = node.prettify().replace("increase", "rate", 1)
        return _keep(text, node, node.args[0].range.total_seconds())
    return _keep(node.prettify(), node)


def _read_sum(node: Any) -> _Linear:
    """Return a sum of multiples as a multiple of a sum."""
    inner, text = _read(node.expr), node.prettify()
    if len(inner.factors) == 1 and not inner.constant:
        ((below, factor),) = inner.factors.items()
        return _keep(" ".join(text.replace(node.expr.prettify(), below).split()), node, factor)
    return _keep(text, node)


def _keep(text: str, node: Any, factor: float = 1.0) -> _Linear:
    """Return a multiple of an expression that is not taken apart."""
    return _Linear({text: factor}, 0.0, {text: node})


def _scale(linear: _Linear, factor: float) -> _Linear:
    return _Linear({k: v * factor for k, v in linear.factors.items()}, linear.constant * factor, linear.nodes)


def _join(one: _Linear, other: _Linear, factor: float) -> _Linear:
    factors = dict(one.factors)
    for text, value in other.factors.items():
        factors[text] = factors.get(text, 0) + factor * value
    return _Linear(factors, one.constant + factor * other.constant, {**one.nodes, **other.nodes})
