"""Determine which labels the result of an expression can have."""

from __future__ import annotations

from typing import Any, Final

from scenario_kit.load.promql.parser import parse_expression

#: Operators whose result has all labels of the left side.
_FILTERS: Final = ("and", "unless")
_SCALARS: Final = ("time", "scalar", "pi")
#: Functions whose result has labels of its own.
_RELABELLING: Final = ("label_replace", "label_join", "absent", "absent_over_time")


def find_result_labels(expr: str) -> frozenset[str] | None:
    """Return the labels that the result of an expression can have; None if any label of its series may be left.

    An aggregation keeps what it groups by, and a match of vectors what it matches on (the documentation of PromQL:
    aggregation operators, vector matching).

    Raises:
        ValueError: invalid PromQL.
    """
    return _find(parse_expression(expr))


def _find(node: Any) -> frozenset[str] | None:
    kind = type(node).__name__
    if kind == "AggregateExpr":
        return _find_grouped(node)
    if kind == "BinaryExpr":
        return _find_matched(node)
    if kind == "Call":
        vectors = [arg for arg in node.args if type(arg).__name__ != "StringLiteral" and not _is_scalar(arg)]
        return None if node.func.name in _RELABELLING or len(vectors) != 1 else _find(vectors[0])
    inner = getattr(node, "expr", None)  # parentheses, a sign, a subquery
    return None if inner is None else _find(inner)


def _find_grouped(node: Any) -> frozenset[str] | None:
    if str(node.op) in ("topk", "bottomk"):  # keeps its series as they are
        return _find(node.expr)
    if str(node.op) == "count_values":
        return None
    if node.modifier is None:
        return frozenset()
    return frozenset(node.modifier.labels) if _read_word(node.modifier.type) == "By" else None


def _find_matched(node: Any) -> frozenset[str] | None:
    if _is_scalar(node.rhs) or _is_scalar(node.lhs):
        return _find(node.lhs if _is_scalar(node.rhs) else node.rhs)
    operator, modifier = str(node.op), node.modifier
    if operator == "or":
        return None
    if operator in _FILTERS:
        return _find(node.lhs)
    matching = None if modifier is None else modifier.matching
    many = None if modifier is None else {"ManyToOne": node.lhs, "OneToMany": node.rhs}.get(_read_word(modifier.card))
    if many is not None:
        found = _find(many)
        return None if found is None else found | frozenset(modifier.group_labels or ())
    if matching is not None and _read_word(matching.type) == "Include":
        return frozenset(matching.labels)
    left = _find(node.lhs)
    return _find(node.rhs) if left is None and matching is None else left  # both sides have the same labels


def _is_scalar(node: Any) -> bool:
    kind = type(node).__name__
    if kind == "BinaryExpr":
        return _is_scalar(node.lhs) and _is_scalar(node.rhs)
    if kind == "Call":
        return node.func.name in _SCALARS
    return kind == "NumberLiteral" or (kind in ("ParenExpr", "UnaryExpr") and _is_scalar(node.expr))


def _read_word(value: Any) -> str:
    """Return the name of a value of an enumeration of the parser."""
    return str(value).rpartition(".")[2]
