"""What users of an app get, route by route."""

from collections.abc import Iterable
from typing import NamedTuple

from tests.lab.twin.twin_cluster import Span, TwinCluster

SUM, COUNT = "traces_span_metrics_duration_milliseconds_sum", "traces_span_metrics_duration_milliseconds_count"


class Outcome(NamedTuple):
    """The requests of a route: the share that fails, mean seconds, and statuses of failed ones in the traces."""

    failed: float
    seconds: float
    statuses: frozenset[object]


def observe(little: TwinCluster, service: str, routes: Iterable[str], seconds: float) -> dict[str, Outcome]:
    """Let time pass; return the outcome of each route in the spans of a service."""
    span = little.run(seconds)
    statuses: dict[str, set[object]] = {}
    for trace in little.twin.traces(little.now - seconds, little.now):
        for each in trace.spans:
            if each.service == service and each.error:
                statuses.setdefault(each.name, set()).add(each.attributes.get("http.response.status_code"))
    return {
        route: Outcome(span.share(service, span=route), _mean(span, service, route), frozenset(statuses.get(route, ())))
        for route in routes
    }


def _mean(span: Span, service: str, route: str) -> float:
    total = {SUM: 0.0, COUNT: 0.0}
    for name, labels, value in span.rows:
        if name in total and labels["service_name"] == service and labels["span_name"] == route:
            total[name] += value
    return total[SUM] / 1000.0 / total[COUNT] if total[COUNT] else 0.0
