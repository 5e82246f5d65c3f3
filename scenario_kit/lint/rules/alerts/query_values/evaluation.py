"""Compute the bounds of an expression from those of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import Any, Final

from scenario_kit.lint.rules.alerts.promql import TURNED, read_number
from scenario_kit.lint.rules.alerts.query_values.call_bounds import bound_aggregate, bound_call
from scenario_kit.lint.rules.alerts.query_values.linear_terms import bound_difference
from scenario_kit.lint.rules.alerts.query_values.metric_bounds import bound_metric
from scenario_kit.lint.rules.alerts.query_values.term_relations import (
    complements,
    find_filtered,
    is_at_most,
    is_same,
    matches_by_all_labels,
    returns_bool,
    strip,
)
from scenario_kit.lint.rules.alerts.query_values.value_bounds import (
    ANY,
    COMPARISONS,
    NOTHING,
    ValueBounds,
    calculate,
    holds_always,
    holds_never,
)

#: Bounds of parts of an expression, by their text.
Known = Mapping[str, ValueBounds]
NO_TERMS: Final[Known] = MappingProxyType({})
_ZERO: Final = ValueBounds(0, 0)
#: Aggregations that are at most the sum, where no value is negative.
_BELOW_SUM: Final = ("max", "min", "avg", "quantile")


def compute_bounds(node: Any, known: Known = NO_TERMS) -> ValueBounds:
    """Compute the bounds of an expression; ``known`` are bounds of parts of it, by their text."""
    if known and (found := known.get(node.prettify())) is not None:
        return found
    if (value := read_number(node)) is not None:
        return ValueBounds(value, value, sure=True, bare=True)
    match type(node).__name__:
        case "ParenExpr" | "SubqueryExpr" | "StepInvariantExpr":
            return compute_bounds(node.expr, known)
        case "UnaryExpr":
            inner = compute_bounds(node.expr, known)
            return inner.span(-inner.high, -inner.low)
        case "Call":
            return bound_call(str(node.func.name), [compute_bounds(each, known) for each in node.args])
        case "AggregateExpr":
            return _bound_aggregate(node, known)
        case "BinaryExpr":
            return _bound_binary(node, known)
        case "VectorSelector":
            return bound_metric(node)
        case "MatrixSelector":
            return compute_bounds(node.vector_selector, known)
    return ANY


def _bound_aggregate(node: Any, known: Known) -> ValueBounds:
    modifier, param = node.modifier, getattr(node, "param", None)
    whole = modifier is None or (str(modifier.type).endswith("By") and not list(modifier.labels))
    number = compute_bounds(param, known) if param is not None and read_number(param) is not None else None
    return bound_aggregate(str(node.op), compute_bounds(node.expr, known), number, whole=whole)


def _bound_binary(node: Any, known: Known) -> ValueBounds:
    operator, left, right = str(node.op), compute_bounds(node.lhs, known), compute_bounds(node.rhs, known)
    if operator == "or":
        return _bound_union(node, left, right)
    if left.never or (right.never and operator != "unless"):
        return NOTHING
    if operator in ("and", "unless"):
        return _bound_selection(node, operator, left, right)
    if operator in COMPARISONS:
        return _bound_comparison(node, operator, left, right)
    low, high = calculate(operator, left, right)
    if operator == "-" and (difference := bound_difference(node)) is not None:
        low, high = difference
    elif operator == "-" and _is_at_most(node.lhs, node.rhs):
        high = min(high, 0)
    elif operator == "-" and _is_at_most(node.rhs, node.lhs):
        low = max(low, 0)
    elif operator == "/" and matches_by_all_labels(node):
        low, high = _bound_ratio(node, left, right, (low, high))
    elif operator == "/" and _is_share_of_sum(node, left):
        high = min(high, 1)
    divides = operator in ("/", "%") and right.low <= 0 <= right.high  # 0/0 is no number
    paired = _pair(node, left, right)
    return paired._replace(low=low, high=high, sure=paired.sure and not divides)


def _bound_ratio(node: Any, left: ValueBounds, right: ValueBounds, ends: tuple[float, float]) -> tuple[float, float]:
    """Narrow the bounds of a quotient of related values."""
    if is_same(node.lhs, node.rhs):
        return 1, 1
    low, high = ends
    if left.low >= 0 and right.low >= 0 and _is_at_most(node.lhs, node.rhs):
        high = min(high, 1)
    if left.low >= 0 and right.low >= 0 and _is_at_most(node.rhs, node.lhs):
        low = max(low, 1)
    return low, high


def _is_at_most(left: Any, right: Any) -> bool:
    """Return whether the left expression never exceeds the right one, also by the bounds of what they aggregate."""
    if is_at_most(left, right):
        return True
    left, right = strip(left), strip(right)
    if {type(left).__name__, type(right).__name__} != {"AggregateExpr"} or str(left.modifier) != str(right.modifier):
        return False
    kinds, inner = (str(left.op), str(right.op)), compute_bounds(left.expr)
    if kinds == ("sum", "count"):  # a sum of values of at most 1
        return inner.high <= 1 and is_same(_find_compared(left.expr), _find_compared(right.expr))
    return kinds[0] in _BELOW_SUM and kinds[1] == "sum" and inner.low >= 0 and is_same(left.expr, right.expr)


def _find_compared(node: Any) -> Any:
    """Return the expression that has the same series: what comparisons with `bool` compare with numbers."""
    node = strip(node)
    while type(node).__name__ == "BinaryExpr" and returns_bool(node) and read_number(node.rhs) is not None:
        node = strip(node.lhs)
    return node


def _is_share_of_sum(node: Any, left: ValueBounds) -> bool:
    """Return whether each value is divided by the sum of its group: `x / on (a) group_left () sum by (a) (x)`."""
    total, matching = strip(node.rhs), node.modifier.matching
    if type(total).__name__ != "AggregateExpr" or str(total.op) != "sum" or not is_same(strip(node.lhs), total.expr):
        return False
    by = set(total.modifier.labels) if total.modifier is not None else set()
    grouped = total.modifier is None or str(total.modifier.type).endswith("By")
    return left.low >= 0 and grouped and str(matching).startswith("on") and by == set(matching.labels)


def _pair(node: Any, left: ValueBounds, right: ValueBounds) -> ValueBounds:
    """Return presence and labels of the result of an operation that pairs series."""
    if _is_scalar(node.rhs) or _is_scalar(node.lhs):
        vector = left if _is_scalar(node.rhs) else right
        return vector._replace(sure=left.sure and right.sure, counts=False, top=-inf)
    bare = (left.bare and right.bare) or _pairs_all(node)
    labelled = left.labelled and right.labelled and matches_by_all_labels(node)
    sure = left.sure and right.sure and left.bare and right.bare
    return ValueBounds(sure=sure, bare=bare, labelled=labelled, selects=left.selects or right.selects)


def _is_scalar(node: Any) -> bool:
    while type(node).__name__ in ("ParenExpr", "UnaryExpr"):
        node = node.expr
    return read_number(node) is not None or (
        type(node).__name__ == "Call" and str(node.func.name) in ("scalar", "time", "pi")
    )


def _pairs_all(node: Any) -> bool:
    """Return whether an operation pairs series by no label: `on()`."""
    matching = node.modifier.matching if node.modifier is not None else None
    return matching is not None and str(matching).startswith("on") and not list(matching.labels)


def _bound_union(node: Any, left: ValueBounds, right: ValueBounds) -> ValueBounds:
    """Return the bounds of `or`: all series of the left side, and those of the right side without a partner there."""
    if left.never or right.never:
        return right if left.never else left
    exclusive = _pairs_all(node) or (left.bare and right.bare)
    if left.sure and exclusive:
        return left
    top = min(left.largest.low, right.largest.low)
    if left.sure:
        top = max(top, left.largest.low)
    if right.sure and right.bare and left.labelled and not exclusive:
        top = max(top, right.largest.low)
    sure = left.sure or right.sure or complements(node.lhs, node.rhs)
    return ValueBounds(
        min(left.low, right.low), max(left.high, right.high), sure, left.counts and right.counts,
        top=top, bare=left.bare and right.bare, labelled=left.labelled and right.labelled,
        selects=left.selects and right.selects,
    )  # fmt: skip


def _bound_selection(node: Any, operator: str, left: ValueBounds, right: ValueBounds) -> ValueBounds:
    """Return the bounds of `and` or `unless`."""
    covered = right.sure and (_pairs_all(node) or (left.bare and right.bare))
    same = is_same(node.lhs, node.rhs)
    if operator == "and":
        if matches_by_all_labels(node) and is_same(find_filtered(node.lhs), find_filtered(node.rhs)):
            return _narrow(_narrow(left, ">=", right), "<=", right)
        return left if covered or same else left._replace(sure=False, top=-inf, selects=True)
    if covered or same:
        return NOTHING
    return left if right.never else left._replace(sure=False, top=-inf, selects=True)


def _bound_comparison(node: Any, operator: str, left: ValueBounds, right: ValueBounds) -> ValueBounds:
    paired = _pair(node, left, right)
    if returns_bool(node):
        known = 1 if compares_always(node, left, right) else 0 if compares_never(node, left, right) else None
        counts = known is not None and (left.counts or right.counts)
        low, high = (0, 1) if known is None else (known, known)
        return paired._replace(low=low, high=high, counts=counts)
    if compares_never(node, left, right):
        return NOTHING
    on_left = not _is_scalar(node.lhs)
    kept, other = (left, right) if on_left else (right, left)
    if compares_always(node, left, right):
        return kept._replace(sure=paired.sure)
    return _narrow(kept, operator if on_left else TURNED.get(operator, operator), other)


def _narrow(kept: ValueBounds, operator: str, other: ValueBounds) -> ValueBounds:
    """Return the bounds of the values that a comparison lets pass."""
    low, high = kept.low, kept.high
    if operator in (">", ">=", "=="):
        low = max(low, other.low)
    if operator in ("<", "<=", "=="):
        high = min(high, other.high)
    if low > high:
        return NOTHING
    return kept._replace(low=low, high=high, sure=False, top=-inf, selects=True)


def compares_always(node: Any, left: ValueBounds, right: ValueBounds) -> bool:
    """Return whether a comparison holds for all values."""
    operator = str(node.op)
    if (difference := bound_difference(node)) is not None and holds_always(ValueBounds(*difference), operator, _ZERO):
        return True
    if operator in ("<=", ">=") and _is_at_most(*_order(node, operator)):
        return True
    if operator == ">" and right.low == right.high == -inf:  # less than any sample
        return True
    return holds_always(left, operator, right)


def compares_never(node: Any, left: ValueBounds, right: ValueBounds) -> bool:
    """Return whether a comparison holds for no value."""
    operator = str(node.op)
    difference = bound_difference(node) if operator != "!=" else None  # what is no number differs from itself
    if difference is not None and holds_never(ValueBounds(*difference), operator, _ZERO):
        return True
    if operator in (">", "<") and _is_at_most(*_order(node, "<=" if operator == ">" else ">=")):
        return True
    return holds_never(left, operator, right)


def _order(node: Any, operator: str) -> tuple[Any, Any]:
    """Return the two sides of a comparison, the one that is to be the lesser first."""
    return (node.lhs, node.rhs) if operator == "<=" else (node.rhs, node.lhs)
