"""PromQL for a solver, restricted to the app's namespaces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from scenario_kit.errors import AuthoringError, KitError, MetricsError
from scenario_kit.load.promql.parser import points
from scenario_kit.observe.rules import scope
from scenario_kit.ports import Metrics, Series
from scenario_kit.solver.gateway.answers import BadCall, ToolAnswer, answer_list

#: Maximum number of points of a range query, as in Prometheus, and of points that one evaluation may read.
MAX_POINTS: Final = 11_000
MAX_DEPTH: Final = 100_000
#: Maximum length of a query, which is part of an address.
LONGEST_QUERY: Final = 10_000


def query_metrics(
    metrics: Metrics, query: str, namespaces: Sequence[str], now: float, minutes: float, step: float
) -> ToolAnswer:
    """Evaluate a query now or, if ``minutes`` > 0, over the last minutes.

    Raises:
        BadCall: the query is not PromQL, cannot be scoped, or reads too many points.
        MetricsError: Prometheus does not answer.
    """
    if len(query) > LONGEST_QUERY:
        raise BadCall(f"a query of {len(query)} characters", f"at most {LONGEST_QUERY}")
    scoped = _scope(query, namespaces)
    if step <= 0:
        raise BadCall(f"step is {step:g}", "a number of seconds above 0")
    if minutes < 0 or minutes * 60 / step > MAX_POINTS:
        raise BadCall(f"{minutes:g} minutes in steps of {step:g} s", f"between 0 and {MAX_POINTS} points")
    try:
        if minutes:
            found = metrics.range(scoped, now - minutes * 60, now, step)
            return answer_list([_render_range(series) for series in found])
        return answer_list([_render_instant(series) for series in metrics.instant(scoped, now)])
    except MetricsError as error:
        if error.evaluation or error.slow:
            fix = "ask for less" if error.slow else "correct the query"
            raise BadCall(error.message.partition("; asked:")[0], fix) from error
        raise


def _scope(query: str, namespaces: Sequence[str]) -> str:
    try:
        if points(query) > MAX_DEPTH:
            raise BadCall("the query looks too far back", "shorter ranges and fewer subqueries")
        return scope(query, *namespaces)
    except BadCall:
        raise
    except AuthoringError as error:
        raise BadCall(error.message, error.fix) from error
    except ValueError as error:
        raise BadCall(f"not PromQL: {error}", "correct the query") from error
    except KitError as error:
        raise BadCall(f"the query cannot be scoped to the app: {query}", "write its selectors plainly") from error


def _render_instant(series: Series) -> dict[str, Any]:
    return {"metric": dict(series.labels), "value": _render_point(series.points[-1])}


def _render_range(series: Series) -> dict[str, Any]:
    return {"metric": dict(series.labels), "values": [_render_point(point) for point in series.points]}


def _render_point(point: tuple[float, float]) -> list[Any]:
    at, value = point
    return [at, repr(value) if math.isfinite(value) else {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN")]
