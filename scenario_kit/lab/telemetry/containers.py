"""Container metrics, with the names and labels of the kubelet's cAdvisor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scenario_kit.lab.telemetry.series import Labels, Sample, block, label_set, series_id
from scenario_kit.model import Object
from scenario_kit.model.process import NetworkUsage, SeriesId, Usage
from scenario_kit.model.quantity import number

#: Length of an enforcement period of the CPU quota: the kubelet's default, 100 ms.
PERIODS_PER_SECOND = 10
_PERIOD_MICROSECONDS = 100_000
#: Bytes that a packet carries at most: Ethernet's 1,500 less the headers of IP and TCP, with timestamps.
_SEGMENT_BYTES = 1448


class ContainerMetrics:
    """Turns usage per tick into cAdvisor's series. Counters begin at zero with every container, and end with it."""

    def __init__(self) -> None:
        self._counters: dict[SeriesId, float] = {}

    def advance(
        self,
        pods: Iterable[Object],
        usage: Mapping[tuple[str, str], Usage],
        dt: float,
        traffic: Mapping[str, NetworkUsage] | None = None,
    ) -> dict[SeriesId, float]:
        """The complete set of series after ``dt`` seconds of this usage.

        ``usage`` is keyed by pod UID and container name, ``traffic`` by pod UID; what is missing has no series.
        Only running containers are measured. CPU quotas are enforced in every period, busy or not.
        """
        result: dict[SeriesId, float] = {}
        counters: dict[SeriesId, float] = {}

        def count(increments: Iterable[Sample]) -> None:
            for series, more in increments:
                counters[series] = self._counters.get(series, 0.0) + more

        for pod in pods:
            for container, container_id in _running(pod):
                used = usage.get((pod["metadata"]["uid"], container["name"]))
                if used is not None:
                    labels = _labels(pod, container, container_id)
                    result.update(_gauges(label_set(labels), container, used))
                    count(_cpu(labels, container, used, dt))
            moved = (traffic or {}).get(pod["metadata"]["uid"])
            if moved is not None:
                count(_network(pod, moved, dt))
        self._counters = counters
        return result | counters


def _running(pod: Object) -> Iterator[tuple[Object, str]]:
    specs = {container["name"]: container for container in block(pod, "spec").get("containers") or []}
    for status in block(pod, "status").get("containerStatuses") or []:
        if "running" in (status.get("state") or {}) and status["name"] in specs:
            yield specs[status["name"]], status.get("containerID", "").rpartition("://")[2]


def _labels(pod: Object, container: Object, container_id: str) -> dict[str, str]:
    return {
        **_pod_labels(pod),
        "container": container["name"],
        "image": container.get("image", ""),
        "name": container_id,
        "id": f"/kubepods/pod{pod['metadata']['uid']}/{container_id}",
    }


def _pod_labels(pod: Object) -> dict[str, str]:
    meta = pod["metadata"]
    node = block(pod, "spec").get("nodeName", "")
    return {"namespace": meta["namespace"], "pod": meta["name"], "node": node, "instance": node}


def _gauges(labels: Labels, container: Object, used: Usage) -> Iterator[Sample]:
    limits, requests = (block(container, "resources").get(what) or {} for what in ("limits", "requests"))
    cores = number(limits.get("cpu", 0))
    shares = max(2.0, number(requests.get("cpu", limits.get("cpu", 0))) * 1024)
    values = {
        "container_memory_working_set_bytes": used.memory_bytes,
        "container_memory_usage_bytes": used.memory_bytes,  # no page cache is simulated
        "container_memory_rss": used.memory_bytes,
        "container_memory_cache": 0.0,
        "container_memory_swap": 0.0,
        "container_spec_memory_limit_bytes": number(limits.get("memory", 0)),
        "container_spec_cpu_period": _PERIOD_MICROSECONDS,
        "container_spec_cpu_shares": shares,
    }
    if cores:
        values["container_spec_cpu_quota"] = cores * _PERIOD_MICROSECONDS
    for name, value in values.items():
        yield (name, labels), float(value)


def _cpu(labels: Mapping[str, str], container: Object, used: Usage, dt: float) -> Iterator[Sample]:
    yield series_id("container_cpu_usage_seconds_total", {**labels, "cpu": "total"}), used.cpu_cores * dt
    if (block(container, "resources").get("limits") or {}).get("cpu"):
        periods, own = dt * PERIODS_PER_SECOND, label_set(labels)
        yield ("container_cpu_cfs_periods_total", own), periods
        yield ("container_cpu_cfs_throttled_periods_total", own), periods * used.throttled_ratio


def _network(pod: Object, moved: NetworkUsage, dt: float) -> Iterator[Sample]:
    """One interface for the pod, as long as it has one of its own; every second packet is acknowledged (RFC 1122)."""
    if block(pod, "spec").get("hostNetwork"):
        return
    labels = label_set({**_pod_labels(pod), "interface": "eth0"})
    came, went = moved.received / _SEGMENT_BYTES, moved.sent / _SEGMENT_BYTES
    values = {
        "container_network_receive_bytes_total": moved.received,
        "container_network_transmit_bytes_total": moved.sent,
        "container_network_receive_packets_total": came + went / 2,
        "container_network_transmit_packets_total": went + came / 2,
    }
    for name, rate in values.items():
        yield (name, labels), rate * dt
