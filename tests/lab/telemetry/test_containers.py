from __future__ import annotations

from typing import Any

from scenario_kit.lab.telemetry import ContainerMetrics
from scenario_kit.model.runtime.process import NetworkUsage, Usage


def pod(container_id: str = "c1", state: str = "running", limits: Any = None, requests: Any = None) -> dict[str, Any]:
    resources = {"limits": limits or {}, "requests": requests or {}}
    return {
        "metadata": {"name": "p", "namespace": "n", "uid": "u"},
        "spec": {"nodeName": "node-1", "containers": [{"name": "c", "image": "i:1", "resources": resources}]},
        "status": {
            "containerStatuses": [{"name": "c", "state": {state: {}}, "containerID": f"containerd://{container_id}"}]
        },
    }


def by_name(samples: Any) -> dict[str, float]:
    return {name: value for (name, _), value in samples.items()}


def test_counters_add_up_and_gauges_follow() -> None:
    metrics = ContainerMetrics()
    limited = pod(limits={"cpu": "500m", "memory": "64Mi"}, requests={"cpu": "100m"})
    metrics.advance([limited], {("u", "c"): Usage(0.2, 1000.0, 0.5)}, 15)
    samples = metrics.advance([limited], {("u", "c"): Usage(0.4, 2000.0)}, 15)
    assert by_name(samples) == {
        "container_memory_working_set_bytes": 2000.0,
        "container_memory_usage_bytes": 2000.0,
        "container_memory_rss": 2000.0,
        "container_memory_cache": 0.0,
        "container_memory_swap": 0.0,
        "container_spec_memory_limit_bytes": 67108864.0,
        "container_spec_cpu_period": 100000.0,
        "container_spec_cpu_quota": 50000.0,
        "container_spec_cpu_shares": 102.4,
        "container_cpu_usage_seconds_total": 9.0,
        "container_cpu_cfs_periods_total": 300.0,
        "container_cpu_cfs_throttled_periods_total": 75.0,
    }


def test_labels() -> None:
    samples = ContainerMetrics().advance([pod()], {("u", "c"): Usage(1, 1)}, 15)
    labels = next(dict(labels) for name, labels in samples if name == "container_cpu_usage_seconds_total")
    assert labels == {
        "namespace": "n", "pod": "p", "container": "c", "node": "node-1", "instance": "node-1", "image": "i:1",
        "name": "c1", "id": "/kubepods/podu/c1", "cpu": "total",
    }  # fmt: skip


def test_no_quota_without_a_limit() -> None:
    names = by_name(ContainerMetrics().advance([pod(requests={"cpu": "1"})], {("u", "c"): Usage(1, 1, 1)}, 15))
    assert not {name for name in names if "cfs" in name or "quota" in name}
    assert names["container_spec_cpu_shares"] == 1024
    assert names["container_spec_memory_limit_bytes"] == 0


def test_new_container_counts_from_zero() -> None:
    metrics = ContainerMetrics()
    used = {("u", "c"): Usage(1, 1)}
    metrics.advance([pod("c1")], used, 15)
    samples = metrics.advance([pod("c2")], used, 15)
    counters = [
        (dict(labels)["name"], v) for (name, labels), v in samples.items() if name.endswith("usage_seconds_total")
    ]
    assert counters == [("c2", 15.0)]


def test_only_running_measured_containers_have_samples() -> None:
    assert ContainerMetrics().advance([pod(state="waiting")], {("u", "c"): Usage(1, 1)}, 15) == {}
    assert ContainerMetrics().advance([pod()], {}, 15) == {}


def test_traffic_belongs_to_the_pod() -> None:
    metrics = ContainerMetrics()
    for _ in range(2):
        samples = metrics.advance([pod()], {}, 15, {"u": NetworkUsage(1448, 2896)})
    assert by_name(samples) == {
        "container_network_receive_bytes_total": 43440.0, "container_network_transmit_bytes_total": 86880.0,
        "container_network_receive_packets_total": 60.0, "container_network_transmit_packets_total": 75.0,
    }  # fmt: skip
    assert all(dict(labels)["interface"] == "eth0" for _, labels in samples)


def test_host_network_pod_has_no_own_interface() -> None:
    shared = pod()
    shared["spec"]["hostNetwork"] = True
    assert ContainerMetrics().advance([shared], {}, 15, {"u": NetworkUsage(100, 10)}) == {}
