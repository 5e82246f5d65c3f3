"""SK208: limits of deadlines, delays and queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.load.promql.parser import points
from scenario_kit.load.yaml.edit import Put
from scenario_kit.model.json_document import Place

#: Maximum of any deadline or delay in seconds: 45 minutes.
CAP: Final = 2700
#: Maximum number of points per series that a query may read: all trials share Prometheus.
POINTS: Final = 10_000
_FIELDS: Final = ("withinSeconds", "afterSeconds")


@register_check("SK208", "Scenario", "Fault")
@report_once("place")
def check_limits(case: LintContext | FaultCase) -> Iterator[Problem]:
    for place, raw in case.positions.raw.items():
        if place[-1:] and place[-1] in _FIELDS and raw.isdigit() and int(raw) > CAP:
            message = f"`{place[-1]}: {raw}` is longer than {CAP // 60} minutes"
            yield Problem(place, message, f"{raw} s", f"at most {CAP} s", edits=(Put(place, CAP),))
    for place, expr in _list_queries(case):
        points = _measure_range(expr)
        if points > POINTS:
            message = f"the query reads {points} points per series"
            fix = "use a shorter range or a larger step"
            yield Problem(place, message, expr[:120], f"at most {POINTS}", fix)


def _list_queries(case: LintContext | FaultCase) -> Iterator[tuple[Place, str]]:
    if isinstance(case, LintContext):
        yield from ((p, text) for p, text in case.positions.texts.items() if p[-2:] == ("query", "expr"))
        return
    for rendering in case.renderings:
        for place, check in rendering.checks():
            if check.query:
                yield (*place, "query", "expr"), check.query.expr


def _measure_range(expr: str) -> int:
    try:
        return points(expr)
    except ValueError:
        return 0  # SK117
