"""The apps' configurations in a real collector, and its series and rules in a real Prometheus."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import urllib3
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.load.series import LABELS
from scenario_kit.model.authored.alert_rule import AlertRule
from scenario_kit.observe.rules import scope
from tests.lab.telemetry.test_published import ASKED_FOR, prometheus_name
from tests.telemetry import processes, spans
from tests.telemetry.configurations import CollectorConfiguration, list_configurations
from tests.telemetry.feed import CALLS, PUBLISHED, QUIET, Feed
from tests.telemetry.metrics import CLIENT_METRICS

#: One of these starts eleven collectors, hence not two at a time.
pytestmark = [pytest.mark.lab, pytest.mark.timeout(400)]
#: Labels that Prometheus or the exporter adds to every series, and that no rule reads.
ADDED = {"__name__", "collector_instance_id", "instance", "job", "otel_scope_name"}
CATALOG = Catalog()
CONFIGURATIONS = {each.name: each for each in list_configurations(CATALOG)}
RULES = [rule for pack in CATALOG.alert_packs() for rule in CATALOG.alert_pack(pack)]
#: Names of what the collector exports, among those that rules read.
_COLLECTED = ("traces_span_metrics_", "kafka_")
#: Names of what comes from elsewhere: kube-state-metrics and the kubelets.
_ELSEWHERE = ("kube_", "container_")
READERS = [rule for rule in RULES if any(word in rule.expr for word in _COLLECTED)]


def test_remaining_rules_do_not_use_collector_series() -> None:
    assert READERS
    for rule in RULES:
        assert rule in READERS or any(word in rule.expr for word in _ELSEWHERE), rule.expr


def test_each_span_is_counted_once(configuration: CollectorConfiguration, fed: Feed) -> None:
    """The pods of a service share a counter that never falls, whichever of them reported last."""
    assert fed.count(configuration.name) == fed.sent[configuration.name]
    namespace = fed.collectors[configuration.name].namespace
    assert not fed.query(f'resets({CALLS}{{namespace="{namespace}"}}[10m]) > 0')


def test_series_have_the_labels_of_the_twin(configuration: CollectorConfiguration, fed: Feed) -> None:
    namespace = fed.collectors[configuration.name].namespace
    for name in [each for each in LABELS if each.startswith("traces_span_metrics_")]:
        found = fed.query(f'{name}{{namespace="{namespace}"}}')
        assert {frozenset(labels.keys() - ADDED) for labels in found} == {LABELS[name]}


def test_receiver_metrics_keep_their_names(configuration: CollectorConfiguration, fed: Feed) -> None:
    """Names, units and types of their metadata, through this pipeline and this exporter, are the lab's series."""
    collector = fed.collectors[configuration.name]
    for receiver in collector.stand_ins:
        kind, _, store = receiver.partition("/")
        for name, facts in PUBLISHED.get(kind, {"metrics": {}})["metrics"].items():
            spelled = prometheus_name(name, facts["type"], facts.get("unit", ""))
            labels = {each.replace(".", "_") for each in facts.get("attributes", ())} | {"namespace"}
            selector = f'{spelled}{{namespace="{collector.namespace}"' + (f', store="{store}"}}' if store else "}")
            (found,) = fed.query(selector) or [{}]
            assert found, selector
            assert found.keys() - ADDED == labels | ({"store"} if store else set()), receiver
            assert spelled in LABELS or spelled not in ASKED_FOR


def test_client_metrics_have_job_label(configuration: CollectorConfiguration, fed: Feed) -> None:
    """The series of a client has no label of its service but `job`."""
    for name in CLIENT_METRICS:
        (found,) = fed.query(f'{name.replace(".", "_")}{{namespace="{fed.collectors[configuration.name].namespace}"}}')
        assert found["job"] == "accounting"


@pytest.mark.parametrize("rule", READERS, ids=lambda r: "-".join([r.pack, r.name, *r.labels.values()]))
def test_rules_find_their_series(configuration: CollectorConfiguration, fed: Feed, rule: AlertRule) -> None:
    """Each rule gives a result about each service that was made to break it, and about no other."""
    collector = fed.collectors[configuration.name]
    assert rule.entity is not None
    found = {
        labels[rule.entity.label] for labels in fed.query(scope(rule.expr, collector.namespace), rule.range_seconds)
    }
    assert found == expect(rule, fed, configuration.name)


def expect(rule: AlertRule, fed: Feed, name: str) -> set[str]:
    """What ought to break the rule: services that failed and were slow throughout, or that fell silent."""
    services = fed.list_services(name) - {"flagd", "load-generator"}
    queues = any(each.startswith("kafkametrics") for each in fed.collectors[name].stand_ins)
    quiet, edge = services & set(QUIET), services & {"frontend", "frontend-proxy"}
    served = {span[0] for span in fed.sent[name] if span[1] in ("SERVER", "CONSUMER")}
    if rule.name == "NoRequestsReceived":
        return quiet
    if rule.name == "NoDatabaseOperations":
        return services & {"accounting"}
    if rule.name.endswith("ConnectionClosureRate"):
        return {"accounting"}
    if "kafka" in rule.expr:
        return {"accounting"} if queues else set()
    loud = services - quiet
    if rule.pack == "default":
        return loud & served
    return edge if rule.labels["tier"] == "edge" else loud - edge


def test_traces_are_forwarded_once(fed: Feed) -> None:
    """The collectors forward every span once by OTLP."""
    passed_on = {n for n, c in CONFIGURATIONS.items() if any(address in c.text for address in processes.SINKS)}
    total = sum(fed.sent[name].total() for name in passed_on)

    def count() -> list[float]:
        found = fed.prometheus.instant('sum(otelcol_receiver_accepted_spans{job="sink"})', time.time())
        return [series.points[-1][1] for series in found]

    processes.wait_until(lambda: count() == [total], lambda: f"{count()}, expected {total}")


def test_exporter_drops_no_metric(configuration: CollectorConfiguration, fed: Feed) -> None:
    """The exporter reports a dropped metric in its log only."""
    errors = fed.collectors[configuration.name].read_errors()
    assert [line for line in errors if "connection refused" not in line and "no such host" not in line] == []


def test_dimension_equal_to_a_constant_label_drops_the_metric(otelcol: Path, fed: Feed, tmp_path: Path) -> None:
    """The exporter drops every span metric that has a label `namespace` already: what this file is there to see."""
    name = next(iter(fed.collectors))
    host = fed.sink.host.rpartition(".")[0] + ".200"
    document, _ = processes.prune(
        yaml.safe_load(fed.collectors[name].configuration.text), processes.find_absent_components(otelcol)
    )
    (connector,) = document["connectors"].values()
    connector["dimensions"] = [{"name": "namespace", "default": "shop"}]
    connector["metrics_flush_interval"] = "100ms"
    collector = processes.start_collector(otelcol, document, tmp_path, "broken", host)
    collector.configuration = fed.collectors[name].configuration
    try:
        with urllib3.PoolManager() as pool:
            processes.wait_until_healthy(collector, pool, f"http://{host}:{processes.HEALTH_PORT}/")
            spans.send(collector, fed.list_spans(name))

            def scrape() -> bytes:
                return pool.request("GET", f"http://{host}:8888/metrics").data

            processes.wait_until(
                lambda: scrape() is not None and any("duplicate label names" in e for e in collector.read_errors()),
                lambda: collector.log.read_text()[-2000:],
            )
            assert b"traces_span_metrics" not in scrape()
    finally:
        collector.stop()
