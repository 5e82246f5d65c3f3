"""Relations between two expressions that hold for all series: equality, a constant difference, a part of a whole."""

from __future__ import annotations

from typing import Any, Final

from scenario_kit.lint.rules.alerts.promql import read_number
from scenario_kit.lint.rules.alerts.query_values.metric_bounds import bound_metric, tells_past
from scenario_kit.lint.rules.alerts.query_values.value_bounds import COMPARISONS

#: Functions of counters that grow with the selected series.
_ADDITIVE: Final = frozenset({"rate", "increase", "irate"})
#: Aggregations of the same values of which the first is at most the second.
_ORDERED: Final = frozenset({("min", "max"), ("min", "avg"), ("avg", "max"), ("min", "quantile"), ("quantile", "max")})
#: Functions of one value of which the first is at most the value, and the last at least.
_ROUNDED: Final = ("floor", "ceil")
#: Series of one object of which each is at most the next (counts of its pods, reported by controllers).
_NESTED: Final = (
    ("kube_deployment_status_replicas_available", "kube_deployment_status_replicas_ready",
     "kube_deployment_status_replicas"),
    ("kube_statefulset_status_replicas_available", "kube_statefulset_status_replicas_ready",
     "kube_statefulset_status_replicas"),
)  # fmt: skip
#: Aggregations with a result wherever there is a series.
_PRESENT: Final = ("sum", "count", "max", "min", "avg", "group", "stddev", "stdvar")
_Matcher = tuple[str, str, str]


def is_same(left: Any, right: Any) -> bool:
    """Return whether both expressions are the same."""
    return bool(left.prettify() == right.prettify())


def matches_by_all_labels(node: Any) -> bool:
    """Return whether a binary operation pairs series by all their labels."""
    return node.modifier is None or node.modifier.matching is None


def is_part(left: Any, right: Any) -> bool:
    """Return whether the left expression sums up, or counts, some of the series of the right one."""
    left, right = strip(left), strip(right)
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
    left, right = strip(left), strip(right)
    if is_part(left, right) or _is_past(left, right) or _is_nested(left, right) or _is_rounded(left, right):
        return True
    kinds = type(left).__name__, type(right).__name__
    if kinds == ("AggregateExpr", "AggregateExpr"):
        same = is_same(left.expr, right.expr) and str(left.modifier) == str(right.modifier)
        return same and (str(left.op), str(right.op)) in _ORDERED
    names = [get_function(node).removesuffix("_over_time") for node in (left, right)]
    if kinds == ("Call", "Call"):
        arguments = [*left.args][-1:], [*right.args][-1:]
        same = all(arguments) and is_same(arguments[0][0], arguments[1][0])
        return same and (tuple(names) in _ORDERED or _are_quantiles(left, right))
    window, value, extreme = (left, right, "min") if kinds[0] == "Call" else (right, left, "max")
    return f"{extreme}_over_time" == get_function(window) and _covers(window.args[0], value)


def _is_nested(left: Any, right: Any) -> bool:
    """Return whether both are counts of an object's pods, and the left one counts some of the right one's."""
    if {type(left).__name__, type(right).__name__} != {"VectorSelector"}:
        return False
    names = (str(left.name), str(right.name))
    ordered = any(names[0] in chain[: chain.index(names[1])] for chain in _NESTED if names[1] in chain)
    return ordered and _list_matchers(left) == _list_matchers(right) and str(left.offset) == str(right.offset)


def _is_rounded(left: Any, right: Any) -> bool:
    """Return whether one side is the other one, rounded down or up."""
    floor, ceil = (get_function(node) == name for node, name in zip((left, right), _ROUNDED, strict=True))
    if floor and ceil:
        return is_same(left.args[0], right.args[0])
    return (floor and is_same(left.args[0], right)) or (ceil and is_same(left, right.args[0]))


def _are_quantiles(left: Any, right: Any) -> bool:
    """Return whether two calls are quantiles of the same values, the left one for a share that is not greater."""
    if not get_function(left) == get_function(right) in ("histogram_quantile", "quantile_over_time"):
        return False
    shares = read_number(left.args[0]), read_number(right.args[0])
    return shares[0] is not None and shares[1] is not None and shares[0] <= shares[1]


def _is_past(left: Any, right: Any) -> bool:
    """Return whether the left expression is the time of something that has happened, and the right one is now."""
    happened = get_function(left) == "timestamp" or (type(left).__name__ == "VectorSelector" and tells_past(left))
    return happened and get_function(right) == "time"


def _covers(window: Any, value: Any) -> bool:
    """Return whether a range of samples ends with the value."""
    return type(window).__name__ == "MatrixSelector" and is_same(window.vector_selector, value)


def get_function(node: Any) -> str:
    return str(node.func.name) if type(node).__name__ == "Call" else ""


def strip(node: Any) -> Any:
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
        get_function(other) == "absent" and is_same(_find_source(other.args[0]), _find_source(one))
        for one, other in ((strip(left), strip(right)), (strip(right), strip(left)))
    )


def _find_source(node: Any) -> Any:
    """Return the part of an expression that is present exactly where the expression is."""
    while True:
        node = strip(node)
        if not (type(node).__name__ == "AggregateExpr" and str(node.op) in _PRESENT):
            return node
        node = node.expr


def find_filtered(node: Any) -> Any:
    """Return the expression whose values a chain of comparisons with numbers filters."""
    while True:
        node = strip(node)
        if type(node).__name__ != "BinaryExpr" or str(node.op) not in COMPARISONS or returns_bool(node):
            return node
        if read_number(node.rhs) is None:
            return node
        node = node.lhs


def returns_bool(node: Any) -> bool:
    """Return whether a comparison has the modifier `bool`."""
    return bool(getattr(node.modifier, "return_bool", False)) if node.modifier is not None else False
