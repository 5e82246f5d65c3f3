"""Throughput of each component, measured by its spans."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from scenario_kit.model import App
from scenario_kit.model.runtime.observation import Work
from scenario_kit.model.runtime.trace import SERVED_SPANS
from scenario_kit.observe.rules import scope
from scenario_kit.ports import Metrics


def measure_work(metrics: Metrics, namespaces: Iterable[str], app: App, start: float, end: float) -> dict[str, Work]:
    """Measure the work of components between two instants, by name; components without spans are omitted.

    Raises:
        MetricsError: Prometheus does not answer.
    """
    seconds = round(end - start)
    spaces = tuple(namespaces)

    def increases(by: str, series: str) -> list[tuple[str, str, float]]:
        expr = f"sum by (service_name, {by}) (increase(traces_span_metrics_{series}{{{SERVED_SPANS}}}[{seconds}s]))"
        found = metrics.instant(scope(expr, *spaces), end)
        return [(s.labels.get("service_name", ""), s.labels.get(by, ""), s.points[0][1]) for s in found]

    calls = increases("status_code", "calls_total")
    took = increases("le", "duration_milliseconds_bucket")
    works = {}
    for component in app.components:
        counted = {status: value for name, status, value in calls if name == component.name}
        if counted:
            within = sorted((float(le), value) for name, le, value in took if name == component.name)
            works[component.name] = Work(
                seconds=seconds,
                requests=sum(counted.values()),
                errors=counted.get("STATUS_CODE_ERROR", 0.0),
                within=tuple((bound, value) for bound, value in within if isfinite(bound)),
            )
    return works
