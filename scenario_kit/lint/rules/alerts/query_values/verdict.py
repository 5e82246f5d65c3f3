"""Decide whether the answer of a query check, or of a comparison in an expression, is the same whatever happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scenario_kit.lint.rules.alerts.query_values.evaluation import (
    NO_TERMS,
    Known,
    compares_always,
    compares_never,
    compute_bounds,
)
from scenario_kit.lint.rules.alerts.query_values.repeated_terms import list_bounds
from scenario_kit.lint.rules.alerts.query_values.value_bounds import COMPARISONS, ValueBounds, holds_always, holds_never
from scenario_kit.load.promql import parser
from scenario_kit.model.authored.check import QueryCheck

OPERATORS: Final = {"GreaterThan": ">", "LessThan": "<", "AtLeast": ">=", "AtMost": "<=", "Equal": "=="}
_ZERO: Final = ValueBounds(0, 0)


def explain_constant_query(query: QueryCheck, given: Known = NO_TERMS) -> str:
    """Explain why a query check has the same answer for all series; empty if it has not.

    A count of series, or another value whose presence carries information, may be compared so that only its absence
    fails the check. ``given`` are known bounds of parts of the expression, by their text.

    Raises:
        ValueError: not PromQL.
    """
    tree, desired = parser.parse_expression(query.expr), _get_threshold(query)
    operator, cases = OPERATORS[query.is_], list_bounds(tree, [desired.low], given)
    met = [bounds.largest for bounds in cases if not bounds.never]
    if not met:
        return "the query never has a result"
    always = all(holds_always(bounds, operator, desired) for bounds in met) and not _is_informative(query, met)
    if always or holds_whatever(query, given):
        return f"every value of the query is {operator} {desired.low:g}"
    if all(holds_never(bounds, operator, desired) for bounds in met) and query.empty != "True":
        return f"no value of the query is {operator} {desired.low:g}"
    constant = find_constant_comparisons(query.expr)
    return f"`{constant[0]}` is the same for every value" if constant else ""


def holds_whatever(query: QueryCheck, given: Known = NO_TERMS) -> bool:
    """Return whether a query check is true for all series, also where there are none.

    Raises:
        ValueError: not PromQL.
    """
    desired = _get_threshold(query)
    for bounds in list_bounds(parser.parse_expression(query.expr), [desired.low], given):
        if not bounds.never and not holds_always(bounds.largest, OPERATORS[query.is_], desired):
            return False
        if not bounds.sure and query.empty != "True":
            return False
    return True


def _get_threshold(query: QueryCheck) -> ValueBounds:
    threshold = query.value / query.scale
    return ValueBounds(threshold, threshold)


def _is_informative(query: QueryCheck, cases: Sequence[ValueBounds]) -> bool:
    """Return whether the mere presence of a result says something; a count has to exclude zero for that."""
    if all(bounds.counts for bounds in cases):
        return not holds_always(_ZERO, OPERATORS[query.is_], _get_threshold(query))
    return any(bounds.counts or bounds.selects for bounds in cases)


def find_constant_comparisons(expr: str) -> list[str]:
    """Find comparisons that hold for all possible values, or for none.

    ``count(x) > 0`` is left out: it asks whether there are series. ``count(x) >= 0`` is not.

    Raises:
        ValueError: not PromQL.
    """
    found = []
    for node in parser.walk(parser.parse_expression(expr)):
        if type(node).__name__ == "BinaryExpr" and str(node.op) in COMPARISONS and _is_constant(node):
            found.append(" ".join(node.prettify().split()))
    return found


def _is_constant(node: Any) -> bool:
    left, right = compute_bounds(node.lhs), compute_bounds(node.rhs)
    if left.never or right.never:
        return False
    if left.selects or right.selects:  # the values that passed a filter
        return False
    if left.counts or right.counts:
        one, other = (_ZERO if side.counts else side for side in (left, right))
        if not holds_always(one, str(node.op), other):
            return False
    return compares_always(node, left, right) or compares_never(node, left, right)
