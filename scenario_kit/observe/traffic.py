"""Traffic served by the app's entry."""

from __future__ import annotations

from scenario_kit.model import App, Value
from scenario_kit.observe.rules import scope
from scenario_kit.ports import Metrics

_CALLS = "traces_span_metrics_calls_total"


class Traffic(Value, frozen=True, kw_only=True):
    """Requests that the entry completed in ``seconds``, and failed ones; None without data."""

    seconds: float
    requests: float | None = None
    errors: float | None = None


def measure_traffic(metrics: Metrics, namespace: str, app: App, start: float, end: float) -> Traffic:
    """Measure the increase of the entry's server-span counters between two instants, extrapolated as PromQL does.

    Raises:
        MetricsError: Prometheus does not answer.
    """
    seconds = round(end - start)
    server = f'{_CALLS}{{service_name="{app.entry}",span_kind="SPAN_KIND_SERVER"}}'
    failed = f'{_CALLS}{{service_name="{app.entry}",span_kind="SPAN_KIND_SERVER",status_code="STATUS_CODE_ERROR"}}'

    def increase(selector: str) -> float | None:
        series = metrics.instant(scope(f"sum(increase({selector}[{seconds}s]))", namespace), end)
        return series[0].points[0][1] if series else None

    requests = increase(server)
    if requests is None:
        return Traffic(seconds=seconds)
    return Traffic(seconds=seconds, requests=requests, errors=increase(failed) or 0.0)
