"""Every series of the lab has the name, the type and the labels that its exporter publishes (`published/`).

What an exporter has and the lab has not is listed here with the reason, so that a gap is a decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.lab.telemetry import ContainerMetrics, KubeState
from scenario_kit.lab.telemetry.exposition import find_family, infer_metric_type
from scenario_kit.lab.twin.call_tree.spans import BOUNDS
from scenario_kit.load.series import LABELS, VALUES
from scenario_kit.model.runtime.process import NetworkUsage, SeriesId, Usage
from scenario_kit.render import render_app
from tests.lab.telemetry.rich_objects import RICH
from tests.lab.twin.twin_cluster import TwinCluster

FOLDER = Path(__file__).parent / "published"

#: Series of kube-state-metrics that the lab has not, by the reason.
LEFT_OUT = {
    "its value is a time of the API server, which is on another clock than the trial": r"_created$|_time$|timestamp$|"
    r"_state_started$",
    "no container runtime class, overhead or device is simulated": r"_overhead_|_runtimeclass_|resourceclaim",
    "neither the catalogue's rules nor the dashboards of kubernetes-mixin read it, and kubectl shows it": (
        r"^kube_pod_(ips|status_qos_class|restart_policy|tolerations|service_account|scheduler)$|"
        r"^kube_pod_status_disruption_reason$|_spec_strategy_|^kube_deployment_owner$|_terminating_replicas$|"
        r"^kube_statefulset_(ordinals_start|persistentvolumeclaim_retention_policy)$|^kube_job_status_suspended$|"
        r"_tolerance$|^kube_service_(spec_external_ip|status_load_balancer_ingress)$|_endpoints_hints$|"
        r"^kube_persistentvolumeclaim_status_condition$|^kube_node_(spec_pod_cidrs|status_addresses)$"
    ),
}

#: Series of containers that the lab has not, by the reason.
NOT_SIMULATED = {
    "no kernel is simulated: neither its split of CPU time nor its page reclaim": r"_(system|user)_seconds_|failcnt|"
    r"failures|dirty|writeback|mapped|pgscan|pgsteal|refault",
    "how long a throttled period lasted is not simulated, only that it was one": r"throttled_seconds",
    "chaos loses packets before the interface counts them": r"_(errors|packets_dropped)_total$",
    "a time, on another clock; the kernel's count of it is in the container's last state": r"start_time|oom_events",
    "a mark of the past that no dashboard reads": r"max_usage",
    "a kubelet sets no such limit": r"_(reservation|swap)_limit_",
}

#: Series of the collector's receivers that are off by default; upstream's own configuration of the demo turns those of
#: PostgreSQL on.
ASKED_FOR = {
    "postgresql_deadlocks_total", "postgresql_tup_fetched_total", "postgresql_tup_inserted_total",
    "mongodb_uptime_milliseconds_total",
}  # fmt: skip

#: Labels that a receiver's metadata has and the lab's series have not: one server holds one database here.
OMITTED = {"db_namespace"}
#: What the collector's exporter adds (`const_labels`), and the processor that tells stores apart.
ADDED = {"namespace", "store"}

_UNITS = {"By": "bytes", "s": "seconds", "ms": "milliseconds", "%": "percent"}
_PER = {"s": "second"}

LIMITS = {"cpu": "1", "memory": "1Gi"}

Families = dict[str, tuple[str | None, set[str]]]


def read(name: str) -> Any:
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text())


def families(series: Iterable[SeriesId]) -> Families:
    """Type and labels by metric; those of all its series together."""
    known = list(series)
    names = {name for name, _ in known}
    found: Families = {}
    for name, labels in known:
        base = find_family(name, names)
        seen = found.setdefault(base, (infer_metric_type(base, names), set()))[1]
        seen |= {label for label, _ in labels} - ({"le"} if base != name else set())
    return found


def prometheus_name(name: str, kind: str, unit: str) -> str:
    """Return the exporter's name of a metric, with the suffixes of its unit and type."""
    words = name.replace(".", "_")
    main, _, per = unit.partition("/")
    suffixes = [_UNITS.get(main, "" if "{" in main or main == "1" else main), f"per_{_PER[per]}" if per else ""]
    for suffix in filter(None, suffixes):
        words += "" if words.endswith(f"_{suffix}") else f"_{suffix}"
    if kind == "counter":
        return words.removesuffix("_total") + "_total"
    return f"{words}_ratio" if unit == "1" and kind == "gauge" else words


def receivers() -> Families:
    """List the metrics of the collector's components under their Prometheus names, without optional ones."""
    found: Families = {}
    for component in read("collector").values():
        for name, facts in component["metrics"].items():
            kind = {"sum": "gauge"}.get(facts["type"], facts["type"])
            spelled = prometheus_name(name, facts["type"], facts.get("unit", ""))
            if facts.get("optIn") and spelled not in ASKED_FOR:
                continue
            labels = [*component.get("common", ()), *facts.get("attributes", ())]
            found[spelled] = (kind, {label.replace(".", "_") for label in labels})
    return found


def differences(ours: Families, published: Families, added: set[str], omitted: set[str]) -> list[str]:
    wrong = [f"{name}: nobody publishes it" for name in sorted(ours.keys() - published.keys())]
    for name in sorted(ours.keys() & published.keys()):
        (kind, labels), (desired, known) = ours[name], published[name]
        wrong += [f"{name}: {kind}, published as {desired}"] if kind != desired else []
        wrong += [f"{name}: label {label} is not published" for label in sorted(labels - known - added)]
        wrong += [f"{name}: label {label} is missing" for label in sorted(known - labels - omitted)]
    return wrong


def list_unexplained(ours: Families, published: Families, reasons: dict[str, str]) -> list[str]:
    missing = published.keys() - ours.keys()
    explained = {name for name in published for pattern in reasons.values() if re.search(pattern, name)}
    unlisted = [f"{name}: published, neither exported nor listed" for name in sorted(missing - explained)]
    return unlisted + [f"{name}: exported, and listed as left out" for name in sorted(explained & ours.keys())]


def test_objects() -> None:
    published = {name: (m["type"], set(m["labels"])) for name, m in read("kube-state-metrics")["metrics"].items()}
    ours = families(KubeState().collect(RICH))
    assert differences(ours, published, set(), set()) == []
    assert list_unexplained(ours, published, LEFT_OUT) == []


def test_containers() -> None:
    published = read("cadvisor")
    common = set(published["common"])
    known = {name: (m["type"], common | set(m["labels"])) for name, m in published["metrics"].items()}
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}}
    pod = {
        "metadata": {"name": "p", "namespace": "n", "uid": "u"},
        "spec": {"nodeName": "w", "containers": [{"name": "c", "image": "i:1", "resources": resources}]},
        "status": {"containerStatuses": [{"name": "c", "state": {"running": {}}, "containerID": "containerd://1"}]},
    }
    ours = families(ContainerMetrics().advance([pod], {("u", "c"): Usage(1, 1)}, 15, {"u": NetworkUsage(1, 1)}))
    of_pods = {name: found for name, found in ours.items() if "_network_" in name}
    of_containers = {name: found for name, found in ours.items() if name not in of_pods}
    scraped = {"node", "instance"}  # by the target, as kubernetes-mixin expects it
    assert differences(of_containers, known, scraped, set()) == []
    assert differences(of_pods, known, scraped, {"container", "id", "image", "name"}) == []
    assert list_unexplained(ours, known, NOT_SIMULATED) == []


@pytest.fixture(scope="module")
def served() -> Families:
    """List the series of all apps' collectors after a minute."""
    catalog, series = Catalog(), list[SeriesId]()
    for name in catalog.apps():
        for version in catalog.versions(name):
            app = catalog.app(name, version)
            little = TwinCluster(app, render_app(app, {}, 50, "shop", templates=catalog.templates(name)))
            little.run(60.0)
            series += little.samples
    return families(series)


def test_collector(served: Families) -> None:
    published = receivers()
    clients = {"kafka_consumer_connection_close_rate", "jvm_gc_duration_seconds"}  # of the Java agent in a program
    ours = {name: found for name, found in served.items() if name not in clients}
    assert differences(ours, published, ADDED, OMITTED) == []
    assert ours.keys() & {prometheus_name(n, "gauge", "") for n in ("kafka.brokers", "mongodb.connection.count")}
    kafka = {name for name in published if name.startswith("kafka_")}
    assert kafka <= ours.keys()


def test_buckets() -> None:
    assert list(BOUNDS) == read("collector")["spanmetrics"]["buckets"]


@pytest.mark.parametrize(
    ("name", "kind", "unit", "spelled"),
    [
        ("redis.uptime", "counter", "s", "redis_uptime_seconds_total"),
        ("redis.memory.used", "gauge", "By", "redis_memory_used_bytes"),
        ("redis.commands", "gauge", "{ops}/s", "redis_commands_per_second"),
        ("kafka.consumer_group.lag", "gauge", "1", "kafka_consumer_group_lag_ratio"),
        ("postgresql.backends", "sum", "1", "postgresql_backends"),
        ("memcached.bytes", "gauge", "By", "memcached_bytes"),
        ("memcached.operation_hit_ratio", "gauge", "%", "memcached_operation_hit_ratio_percent"),
        ("traces.span.metrics.duration", "histogram", "ms", "traces_span_metrics_duration_milliseconds"),
    ],
)
def test_names(name: str, kind: str, unit: str, spelled: str) -> None:
    assert prometheus_name(name, kind, unit) == spelled


def test_differences_to_published_series_are_listed() -> None:
    published: Families = {"a": ("gauge", {"x", "y"}), "b": ("counter", set())}
    ours: Families = {"a": ("counter", {"x", "z"}), "c": ("gauge", set())}
    assert differences(ours, published, set(), set()) == [
        "c: nobody publishes it", "a: counter, published as gauge", "a: label z is not published",
        "a: label y is missing",
    ]  # fmt: skip
    assert list_unexplained(ours, published, {"no": "^a$"}) == [
        "b: published, neither exported nor listed", "a: exported, and listed as left out"
    ]  # fmt: skip


def test_lint_series_match_exported_series(served: Families) -> None:
    """Series known to lint (`load/series.yaml`) are those that the lab exports, labels included."""
    pod = {
        "metadata": {"name": "p", "namespace": "n", "uid": "u"},
        "spec": {"nodeName": "w", "containers": [{"name": "c", "image": "i:1", "resources": {"limits": LIMITS}}]},
        "status": {"containerStatuses": [{"name": "c", "state": {"running": {}}, "containerID": "containerd://1"}]},
    }
    containers = ContainerMetrics().advance([pod], {("u", "c"): Usage(1, 1)}, 15, {"u": NetworkUsage(1, 1)})
    exported = {**families(KubeState().collect(RICH)), **families(containers), **served}
    for name, (_, labels) in exported.items():
        parts = [name] if name in LABELS else [f"{name}_{part}" for part in ("bucket", "count", "sum")]
        for each in parts:
            assert LABELS[each] - {"le", "namespace"} == labels - {"namespace"}, each
    known = {name for name in LABELS if name not in exported}
    assert {re.sub(r"_(bucket|count|sum)$", "", name) for name in known} <= exported.keys()


def test_exported_label_values_are_within_declared_values() -> None:
    for name, labels in KubeState().collect(RICH):
        for label, values in VALUES.get(name, {}).items():
            assert dict(labels).get(label, "") in {*values, "unknown", "W"}, (name, label)
