"""Split an expression into cases by the value of a term that occurs in it more than once.

Bounds of single terms do not show that `(x > bool 5) + (x <= bool 5)` is 1: in each case (below 5, 5, above) it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise, product
from math import inf, nextafter, prod
from typing import Any, Final

from scenario_kit.lint.rules.alerts.promql import read_number
from scenario_kit.lint.rules.alerts.query_values.call_bounds import ELEMENTWISE
from scenario_kit.lint.rules.alerts.query_values.evaluation import NO_TERMS, Known, compute_bounds
from scenario_kit.lint.rules.alerts.query_values.term_relations import matches_by_all_labels
from scenario_kit.lint.rules.alerts.query_values.value_bounds import NOTHING, ValueBounds
from scenario_kit.load.promql import parser

#: Maximum number of cases; beyond, the expression is not split.
_MOST_CASES: Final = 300
_TERMS: Final = ("Call", "AggregateExpr", "VectorSelector")


def list_bounds(tree: Any, thresholds: Iterable[float] = (), given: Known = NO_TERMS) -> list[ValueBounds]:
    """Return the bounds of an expression in every case.

    Args:
        thresholds: values with which its result is compared.
        given: known bounds of parts of it, by their text.
    """
    cases = [(known, compute_bounds(tree, {**given, **known})) for known in _list_cases(tree, thresholds, given)]
    if any(bounds.never and not any(term.never for term in known.values()) for known, bounds in cases):
        return [bounds._replace(selects=True) for _, bounds in cases]  # its values decide whether there is a result
    return [bounds for _, bounds in cases]


def _list_cases(tree: Any, thresholds: Iterable[float], given: Known) -> Iterator[Known]:
    terms = _find_repeated(tree, given)
    numbers = sorted({*thresholds, *(n for node in parser.walk(tree) if (n := read_number(node)) is not None), 0.0})
    alone = len(terms) == 1 and _contains_only(tree, next(iter(terms)))
    cells = {text: list(_cut(bounds, numbers, alone=alone)) for text, bounds in terms.items()}
    if not cells or prod(map(len, cells.values())) > _MOST_CASES:
        yield {}
        return
    for chosen in product(*cells.values()):
        yield dict(zip(cells, chosen, strict=True))


def _find_repeated(tree: Any, given: Known) -> dict[str, ValueBounds]:
    """Return the largest repeated terms that have one value each wherever they occur, by their text, with bounds."""
    found = list(_list_terms(tree, single=True))
    counted = Counter(text for text, _ in found)
    repeated = {text: node for text, node in found if counted[text] > 1}
    nested = {below.prettify() for node in repeated.values() for below in parser.walk(node) if below is not node}
    return {text: compute_bounds(node, given) for text, node in repeated.items() if text not in nested}


def _list_terms(node: Any, *, single: bool) -> Iterator[tuple[str, Any]]:
    """Yield terms; ``single`` if what is above the node treats each series by itself."""
    kind = type(node).__name__
    if kind in _TERMS and (single or compute_bounds(node).bare):
        yield node.prettify(), node
    below = single and (
        kind in ("ParenExpr", "UnaryExpr")
        or (kind == "BinaryExpr" and matches_by_all_labels(node))
        or (kind == "Call" and str(node.func.name) in ELEMENTWISE)
    )
    if kind not in ("SubqueryExpr", "MatrixSelector"):  # values of other times
        for child in parser.list_children(node):
            yield from _list_terms(child, single=below)


def _contains_only(node: Any, text: str) -> bool:
    """Return whether an expression consists of one term and numbers, so that each of its series is by itself."""
    if node.prettify() == text or read_number(node) is not None:
        return True
    children = parser.list_children(node)
    return bool(children) and all(_contains_only(child, text) for child in children)


def _cut(bounds: ValueBounds, numbers: list[float], *, alone: bool) -> Iterator[ValueBounds]:
    """Yield a term's cases: absent, equal to a number, and between two numbers."""
    if not bounds.sure:
        yield NOTHING
    if bounds.never:
        return
    present = bounds._replace(sure=True, top=-inf, bare=bounds.bare or alone)
    for number in numbers:
        if bounds.low <= number <= bounds.high:
            yield present._replace(low=number, high=number)
    for low, high in pairwise([-inf, *numbers, inf]):
        inner = max(bounds.low, nextafter(low, inf)), min(bounds.high, nextafter(high, -inf))
        if inner[0] <= inner[1]:
            yield present._replace(low=inner[0], high=inner[1])
