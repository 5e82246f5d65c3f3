"""Traffic served by the app's entry."""

from __future__ import annotations

from scenario_kit.model import App, Value
from scenario_kit.model.runtime.trace import SERVED_SPANS
from scenario_kit.observe.rules import scope
from scenario_kit.ports import Metrics

_CALLS = "traces_span_metrics_calls_total"


class Traffic(Value, frozen=True, kw_only=True):
    """Requests that the entry completed in ``seconds``, and failed ones; None without data."""

    seconds: float
    requests: float | None = None
    errors: float | None = None


def measure_traffic(metrics: Metrics, namespace: str, app: App, start: float, end: float) -> Traffic:
    """Measure the increase of the entry's counters of served requests, extrapolated as PromQL does.

    A record that a consumer processes is a request that it serves.

    Raises:
        MetricsError: Prometheus does not answer.
    """
    seconds = round(end - start)
    served = f'service_name="{app.entry}",{SERVED_SPANS}'

    def increase(selector: str) -> float | None:
        expr = f"sum(increase({_CALLS}{{{selector}}}[{seconds}s]))"
        series = metrics.instant(scope(expr, namespace), end)
        return series[0].points[0][1] if series else None

    requests = increase(served)
    if requests is None:
        return Traffic(seconds=seconds)
    errors = increase(f'{served},status_code="STATUS_CODE_ERROR"') or 0.0
    return Traffic(seconds=seconds, requests=requests, errors=errors)
