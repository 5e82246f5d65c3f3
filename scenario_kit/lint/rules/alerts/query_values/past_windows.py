"""Queries that mainly read the time before the fault, so that the fault cannot change their answer."""

from __future__ import annotations

from typing import Any, Final

from scenario_kit.load.promql.parser import list_children, parse_expression
from scenario_kit.model.authored.check import QueryCheck

#: Functions for which one sample in the range is enough, or whose result a few samples hardly change.
_KEEPING: Final = frozenset(
    {"max_over_time", "present_over_time", "last_over_time", "first_over_time", "count_over_time", "sum_over_time",
     "avg_over_time", "quantile_over_time", "rate", "increase"}
)  # fmt: skip
_AT_LEAST: Final = ("GreaterThan", "AtLeast", "Equal")


def explain_past(query: QueryCheck, watched: float) -> str:
    """Explain that a query reads what was before the fault; empty if it reads what the fault may change.

    Args:
        watched: seconds after the injection during which the check is asked.
    """
    try:
        tree = parse_expression(query.expr)
    except ValueError:
        return ""  # SK117
    at_least = query.is_ in _AT_LEAST
    return next((found for found in (_explain_node(node, watched, at_least) for node in _walk(tree)) if found), "")


def _walk(node: Any) -> list[tuple[str, Any]]:
    """List all nodes, each with the function that is applied to it."""
    found, left = [], [("", node)]
    while left:
        name, each = left.pop()
        found.append((name, each))
        below = str(each.func.name) if type(each).__name__ == "Call" else ""
        left += [(below, child) for child in list_children(each)]
    return found


def _explain_node(named: tuple[str, Any], watched: float, at_least: bool) -> str:
    name, node = named
    if getattr(node, "at", None) is not None:
        return "`@` reads a fixed time, which the fault cannot change"
    offset, reach = (getattr(node, field, None) for field in ("offset", "range"))
    if offset is not None and offset.total_seconds() >= watched:
        return f"the offset of {offset.total_seconds():g} s leads to the time before the fault"
    if at_least and name in _KEEPING and reach is not None and reach.total_seconds() >= watched:
        return f"{name} over {reach.total_seconds():g} s still counts what was before the fault"
    return ""
