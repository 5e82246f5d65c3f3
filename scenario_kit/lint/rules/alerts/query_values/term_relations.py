"""Relations between two expressions that hold for all series: equality, a constant difference, a part of a whole."""

from __future__ import annotations

from typing import Any, Final

from scenario_kit.lint.rules.alerts.promql import read_number
from scenario_kit.lint.rules.alerts.query_values.metric_bounds import TIME, bound_metric
from scenario_kit.lint.rules.alerts.query_values.value_bounds import COMPARISONS

#: Functions of counters that grow with the selected series.
_ADDITIVE: Final = frozenset({"rate", "increase", "irate"})
#: Aggregations of the same values of which the first is at most the second.
_ORDERED: Final = frozenset({("min", "max"), ("min", "avg"), ("avg", "max"), ("min", "quantile"), ("quantile", "max")})
#: Aggregations with a result wherever there is a series.
_PRESENT: Final = ("sum", "count", "max", "min", "avg", "group", "stddev", "stdvar")
_Matcher = tuple[str, str, str]


def is_same(left: Any, right: Any) -> bool:
    """Return whether both expressions are the same."""
    return bool(left.prettify() == right.prettify())


def matches_by_all_labels(node: Any) -> bool:
    """Return whether a binary operation pairs series by all their labels."""
    return node.modifier is None or node.modifier.matching is None


def get_difference(node: Any) -> float | None:
    """Return the constant difference of the two sides of an operation; None if it is not constant or not known."""
    if not matches_by_all_labels(node):
        return None
    left, right = _read_linear(node.lhs), _read_linear(node.rhs)
    if left is None or right is None or not left[0]:
        return None
    terms = {key: left[0].get(key, 0) - right[0].get(key, 0) for key in {*left[0], *right[0]}}
    return left[1] - right[1] if not any(terms.values()) else None


def _read_linear(node: Any) -> tuple[dict[str, float], float] | None:
    """Return an expression as factors of other expressions, by their text, and a constant."""
    if (value := read_number(node)) is not None:
        return {}, value
    kind = type(node).__name__
    if kind == "ParenExpr":
        return _read_linear(node.expr)
    if kind == "UnaryExpr":
        return _scale(_read_linear(node.expr), -1)
    if kind == "BinaryExpr" and matches_by_all_labels(node):
        operator, left, right = str(node.op), read_number(node.lhs), read_number(node.rhs)
        if operator in ("+", "-"):
            return _join(_read_linear(node.lhs), _scale(_read_linear(node.rhs), 1 if operator == "+" else -1))
        if operator == "*" and (factor := left if left is not None else right) is not None:
            return _scale(_read_linear(node.rhs if left is not None else node.lhs), factor)
        if operator == "/" and right:
            return _scale(_read_linear(node.lhs), 1 / right)
    return {node.prettify(): 1.0}, 0.0


def _scale(linear: tuple[dict[str, float], float] | None, factor: float) -> tuple[dict[str, float], float] | None:
    return None if linear is None else ({k: v * factor for k, v in linear[0].items()}, linear[1] * factor)


def _join(
    one: tuple[dict[str, float], float] | None, other: tuple[dict[str, float], float] | None
) -> tuple[dict[str, float], float] | None:
    if one is None or other is None:
        return None
    terms = {key: one[0].get(key, 0) + other[0].get(key, 0) for key in {*one[0], *other[0]}}
    return terms, one[1] + other[1]


def is_part(left: Any, right: Any) -> bool:
    """Return whether the left expression sums up, or counts, some of the series of the right one."""
    left, right = _strip(left), _strip(right)
    kind = type(left).__name__
    if kind != type(right).__name__:
        return False
    if kind == "AggregateExpr":
        same = str(left.op) == str(right.op) in ("sum", "count") and str(left.modifier) == str(right.modifier)
        return same and is_part(left.expr, right.expr)
    if kind == "Call":
        name = str(left.func.name)
        return name == str(right.func.name) and name in _ADDITIVE and is_part(left.args[0], right.args[0])
    if kind == "MatrixSelector":
        return left.range == right.range and is_part(left.vector_selector, right.vector_selector)
    return kind == "VectorSelector" and _selects_part(left, right)


def is_at_most(left: Any, right: Any) -> bool:
    """Return whether the left expression never exceeds the right one, where both have a value."""
    left, right = _strip(left), _strip(right)
    if is_part(left, right) or _is_past(left, right):
        return True
    kinds = type(left).__name__, type(right).__name__
    if kinds == ("AggregateExpr", "AggregateExpr"):
        same = is_same(left.expr, right.expr) and str(left.modifier) == str(right.modifier)
        return same and (str(left.op), str(right.op)) in _ORDERED
    names = [_get_function(node).removesuffix("_over_time") for node in (left, right)]
    if kinds == ("Call", "Call"):
        arguments = [*left.args][-1:], [*right.args][-1:]
        return all(arguments) and is_same(arguments[0][0], arguments[1][0]) and tuple(names) in _ORDERED
    window, value, extreme = (left, right, "min") if kinds[0] == "Call" else (right, left, "max")
    return f"{extreme}_over_time" == _get_function(window) and _covers(window.args[0], value)


def _is_past(left: Any, right: Any) -> bool:
    """Return whether the left expression is the time of something that has happened, and the right one is now."""
    happened = _get_function(left) == "timestamp" or (
        type(left).__name__ == "VectorSelector" and bound_metric(left)[:2] == TIME[:2]
    )
    return happened and _get_function(right) == "time"


def _covers(window: Any, value: Any) -> bool:
    """Return whether a range of samples ends with the value."""
    return type(window).__name__ == "MatrixSelector" and is_same(window.vector_selector, value)


def _get_function(node: Any) -> str:
    return str(node.func.name) if type(node).__name__ == "Call" else ""


def _strip(node: Any) -> Any:
    while type(node).__name__ == "ParenExpr":
        node = node.expr
    return node


def _selects_part(left: Any, right: Any) -> bool:
    if left.matchers.or_matchers or right.matchers.or_matchers or bound_metric(left).low < 0:
        return False
    same = (str(left.name), str(left.offset), str(left.at)) == (str(right.name), str(right.offset), str(right.at))
    return same and _list_matchers(left) >= _list_matchers(right)


def _list_matchers(selector: Any) -> set[_Matcher]:
    return {(str(m.name), str(m.op), str(m.value)) for m in selector.matchers.matchers}


def complements(left: Any, right: Any) -> bool:
    """Return whether one expression is there exactly where the other one is absent."""
    return any(
        _get_function(other) == "absent" and is_same(_find_source(other.args[0]), _find_source(one))
        for one, other in ((_strip(left), _strip(right)), (_strip(right), _strip(left)))
    )


def _find_source(node: Any) -> Any:
    """Return the part of an expression that is present exactly where the expression is."""
    while True:
        node = _strip(node)
        if not (type(node).__name__ == "AggregateExpr" and str(node.op) in _PRESENT):
            return node
        node = node.expr


def find_filtered(node: Any) -> Any:
    """Return the expression whose values a chain of comparisons with numbers filters."""
    while True:
        node = _strip(node)
        if type(node).__name__ != "BinaryExpr" or str(node.op) not in COMPARISONS or returns_bool(node):
            return node
        if read_number(node.rhs) is None:
            return node
        node = node.lhs


def returns_bool(node: Any) -> bool:
    """Return whether a comparison has the modifier `bool`."""
    return bool(getattr(node.modifier, "return_bool", False)) if node.modifier is not None else False
