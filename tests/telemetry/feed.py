"""Telemetry sent to the collectors, and its samples in Prometheus."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import yaml

from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.model.runtime.trace import Span
from tests.lab.telemetry.test_published import FOLDER
from tests.telemetry import metrics, spans
from tests.telemetry.processes import CollectorProcess, wait_until

CALLS: Final = "traces_span_metrics_calls_total"
#: Services that send nothing in the second wave: one that writes to a database, and one of the hotel's.
QUIET: Final = ("accounting", "rate")
#: What makes the rules about queues fire: a group without members, and one that lags.
VALUES: Final = {"kafka.consumer_group.members": 0.0, "kafka.consumer_group.lag_sum": 1000.0}
_ATTRIBUTES: Final = {"group": "accounting", "topic": "orders", "partition": "0"}
Key = tuple[str, str, str, str]


class Feed:
    """Two waves of spans for every collector; the second lacks those of ``QUIET`` services."""

    def __init__(
        self,
        prometheus: PrometheusMetrics,
        collectors: Mapping[str, CollectorProcess],
        sink: CollectorProcess,
        of_apps: Mapping[tuple[str, str], Sequence[Span]],
    ) -> None:
        self.prometheus = prometheus
        self.collectors = collectors
        self.sink = sink
        self._of_apps = of_apps
        self._arrived: list[float] = []
        self.sent: dict[str, Counter[Key]] = {name: Counter() for name in collectors}

    def list_services(self, name: str) -> set[str]:
        """List the services whose spans were sent to that collector."""
        return {span.service for span in self.list_spans(name)}

    def send_waves(self) -> None:
        """Send both waves; each is over when Prometheus has all of it."""
        for wave in range(2):
            for name, collector in self.collectors.items():
                chosen = [s for s in spans.vary(self.list_spans(name)) if wave == 0 or s.service not in QUIET]
                spans.send(collector, chosen)
                self.sent[name] += Counter(_build_key(span) for span in chosen)
                self._send_metrics(collector)
            wait_until(self._has_arrived, self._describe_missing)
            self._arrived.append(time.time())

    def query(self, expr: str, seconds: int = 0) -> list[dict[str, str]]:
        """Query the labels of an expression's result at the second wave, when its range is filled."""
        at = max(time.time(), self._arrived[0] + seconds)
        return [dict(series.labels) for series in self.prometheus.instant(expr, at)]

    def count(self, name: str) -> dict[Key, float]:
        """Count the calls by service, kind, name and status."""
        by = "service_name, span_kind, span_name, status_code"
        expr = f'sum by ({by}) ({CALLS}{{namespace="{self.collectors[name].namespace}"}})'
        return {
            (
                series.labels["service_name"],
                series.labels["span_kind"].removeprefix("SPAN_KIND_"),
                series.labels["span_name"],
                series.labels["status_code"].removeprefix("STATUS_CODE_"),
            ): series.points[-1][1]
            for series in self.prometheus.instant(expr, time.time())
        }

    def list_spans(self, name: str) -> Sequence[Span]:
        """List what the services report of which that collector is."""
        configuration = self.collectors[name].configuration
        assert configuration is not None
        return self._of_apps[configuration.app.name, configuration.app.version]

    def _send_metrics(self, collector: CollectorProcess) -> None:
        for receiver, port in collector.stand_ins.items():
            facts = PUBLISHED.get(receiver.partition("/")[0])
            if facts is None:
                continue  # neither rules nor the twin have anything of it
            spans.post(collector, "metrics", metrics.build_request(facts["metrics"], {}, _ATTRIBUTES, VALUES), port)
        resource = {"service.name": "accounting", "service.instance.id": "1"}
        spans.post(collector, "metrics", metrics.build_request(metrics.CLIENT_METRICS, resource, {}, {}))

    def _has_arrived(self) -> bool:
        return all(sum(self.count(name).values()) >= sum(sent.values()) for name, sent in self.sent.items())

    def _describe_missing(self) -> str:
        return "; ".join(self._list_missing())

    def _list_missing(self) -> Iterator[str]:
        for name, sent in self.sent.items():
            missing = sent - Counter(self.count(name))
            errors = self.collectors[name].read_errors()
            if missing:
                yield f"{name}: {len(missing)} of {len(sent)} series are not as sent, {missing}; {errors[-3:]}"


def _build_key(span: Span) -> Key:
    return span.service, span.kind, span.name, "ERROR" if span.error else "UNSET"


PUBLISHED: Final = yaml.safe_load((FOLDER / "collector.yaml").read_text())
