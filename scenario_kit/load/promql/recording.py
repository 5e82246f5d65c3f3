"""Inline recording rules: replace recorded series by the expressions that they record."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.load.promql.parser import parse_expression, walk
from scenario_kit.load.promql.rewrite import Selector, find_selectors
from scenario_kit.model.grid import GRID_DURATION

#: Distance between values of a recorded series: the step of the subquery that replaces a range.
_RESOLUTION: Final = GRID_DURATION
_RANGE: Final = re.compile(r"\s*\[(?P<reach>[^\]:]*)(?P<subquery>:[^\]]*)?\]")
#: The fix if a series cannot be inlined.
_FIX: Final = "write the expression that it records into the rule"


def build_recorded_expression(expr: str, labels: Mapping[str, str]) -> str:
    """Return what a recording rule records: its expression, with the labels that it adds."""
    for name, value in labels.items():
        quoted = json.dumps(value, ensure_ascii=False)
        expr = f'label_replace({expr}, "{name}", {quoted.replace("$", "$$")}, "", "")'
    return expr


def inline(expr: str, recorded: Mapping[str, str]) -> str:
    """Replace each selector of a recorded series by its expression.

    Args:
        recorded: expressions of recording rules, by the name of the series that they record.

    Raises:
        AuthoringError: a recorded series is selected by labels or with an offset, or rules are recursive.
    """
    return _inline(expr, recorded, ())


def _inline(expr: str, recorded: Mapping[str, str], open_: tuple[str, ...]) -> str:
    result = expr
    for place, node in reversed(list(zip(find_selectors(expr), find_vector_selectors(expr), strict=True))):
        if node.name not in recorded:
            continue
        if node.name in open_:
            raise AuthoringError(f"recording rules depend on each other: {' -> '.join((*open_, node.name))}", fix=_FIX)
        body = _inline(recorded[node.name], recorded, (*open_, node.name))
        result = f"{result[: place.start]}({body}){_expand_selector(expr, place, node.name, result)}"
    _parse(result)
    return result


def _expand_selector(expr: str, place: Selector, name: str, result: str) -> str:
    """Return the text after a selector; a range becomes the range of a subquery."""
    rest = result[place.end :]
    found = _RANGE.match(expr[place.end :])
    after = expr[place.end + (found.end() if found else 0) :].lstrip()
    if not place.empty or (not found and after.startswith(("offset", "@"))):
        raise AuthoringError(f"the recorded series {name} is used with labels or an offset", fix=_FIX)
    if found and not found["subquery"]:
        return f"[{found['reach']}:{_RESOLUTION}]{rest[found.end() :]}"
    return rest


def _parse(expr: str) -> Any:
    try:
        return parse_expression(expr)
    except ValueError as error:
        raise AuthoringError(f"not PromQL: {expr}: {error}", fix="check it with: promtool promql format") from error


def find_vector_selectors(expr: str) -> list[Any]:
    """Return the vector selectors of an expression, in the order of the text.

    Raises:
        AuthoringError: invalid PromQL.
    """
    import promql_parser

    found = [n for n in walk(_parse(expr)) if isinstance(n, promql_parser.VectorSelector)]
    for node in found:
        if node.matchers.or_matchers:
            raise AuthoringError(f"{expr}: `or` between label matchers is not PromQL", fix="join two selectors by `or`")
    return found
