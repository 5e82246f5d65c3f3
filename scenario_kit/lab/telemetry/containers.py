"""Container metrics, with the names and labels of the kubelet's cAdvisor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from scenario_kit.lab.telemetry.series import Sample, block, label_set, make_series_id
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers
from scenario_kit.model.kubernetes.quantity import parse_quantity
from scenario_kit.model.kubernetes.status import list_serving_statuses
from scenario_kit.model.runtime.process import NetworkUsage, SeriesId, Usage

#: Length of an enforcement period of the CPU quota: the kubelet's default, 100 ms.
PERIODS_PER_SECOND = 10
_PERIOD_MICROSECONDS = 100_000
#: Bytes that a packet carries at most: Ethernet's 1,500 less the headers of IP and TCP, with timestamps.
_SEGMENT_BYTES = 1448


_MEMORY = (
    "container_memory_working_set_bytes",
    "container_memory_usage_bytes",  # no page cache is simulated
    "container_memory_rss",
)
_NETWORK = (
    "container_network_receive_bytes_total",
    "container_network_transmit_bytes_total",
    "container_network_receive_packets_total",
    "container_network_transmit_packets_total",
)


class _Container(NamedTuple):
    """The series of a running container, cached per version of its pod."""

    name: str
    memory: tuple[SeriesId, ...]
    fixed: dict[SeriesId, float]
    cpu: SeriesId
    periods: tuple[SeriesId, ...]


class _PodSeries(NamedTuple):
    """The series of one version of a pod."""

    version: Object
    containers: tuple[_Container, ...]
    network: tuple[SeriesId, ...]


class ContainerMetrics:
    """Convert usage per tick into cAdvisor's series. Counters start at zero and end with their container."""

    def __init__(self) -> None:
        self._counters: dict[SeriesId, float] = {}
        self._pods: dict[str, _PodSeries] = {}

    def advance(
        self,
        pods: Iterable[Object],
        usage: Mapping[tuple[str, str], Usage],
        dt: float,
        traffic: Mapping[str, NetworkUsage] | None = None,
    ) -> dict[SeriesId, float]:
        """Return the complete set of series after ``dt`` seconds of this usage.

        ``usage`` is keyed by pod UID and container name, ``traffic`` by pod UID; a missing key has no series.
        Only running containers are measured. CPU quotas are enforced in every period, busy or not. Pods are cached by
        object identity, so a changed pod must be a new object.
        """
        result: dict[SeriesId, float] = {}
        counters: dict[SeriesId, float] = {}
        known: dict[str, _PodSeries] = {}
        for version in pods:
            uid = version["metadata"]["uid"]
            before = self._pods.get(uid)
            pod = known[uid] = before if before is not None and before.version is version else _summarise_pod(version)
            increments: list[Sample] = []
            for container in pod.containers:
                used = usage.get((uid, container.name))
                if used is not None:
                    result.update(dict.fromkeys(container.memory, float(used.memory_bytes)))
                    result.update(container.fixed)
                    increments += _sample_cpu(container, used, dt)
            moved = (traffic or {}).get(uid)
            if moved is not None:
                increments += zip(pod.network, _count_network(moved, dt), strict=False)
            for series, more in increments:
                counters[series] = self._counters.get(series, 0.0) + more
        self._counters, self._pods = counters, known
        return result | counters


def _summarise_pod(pod: Object) -> _PodSeries:
    own = _build_pod_labels(pod)
    interface = label_set({**own, "interface": "eth0"})
    # One interface per pod, unless it uses the host's network.
    names = () if block(pod, "spec").get("hostNetwork") else _NETWORK
    return _PodSeries(
        pod,
        tuple(
            _summarise_container(pod, container, container_id, own) for container, container_id in _list_running(pod)
        ),
        tuple((name, interface) for name in names),
    )


def _build_pod_labels(pod: Object) -> dict[str, str]:
    meta = pod["metadata"]
    node = block(pod, "spec").get("nodeName", "")
    return {"namespace": meta["namespace"], "pod": meta["name"], "node": node, "instance": node}


def _list_running(pod: Object) -> Iterator[tuple[Object, str]]:
    specs = {container["name"]: container for container in list_serving_containers(block(pod, "spec"))}
    for status in list_serving_statuses(pod):
        if "running" in (status.get("state") or {}) and status["name"] in specs:
            yield specs[status["name"]], status.get("containerID", "").rpartition("://")[2]


def _summarise_container(pod: Object, container: Object, container_id: str, own: Mapping[str, str]) -> _Container:
    labels = {
        **own,
        "container": container["name"],
        "image": container.get("image", ""),
        "name": container_id,
        "id": f"/kubepods/pod{pod['metadata']['uid']}/{container_id}",
    }
    series = label_set(labels)
    limited = (block(container, "resources").get("limits") or {}).get("cpu")
    periods = ("container_cpu_cfs_periods_total", "container_cpu_cfs_throttled_periods_total") if limited else ()
    return _Container(
        container["name"],
        tuple((name, series) for name in _MEMORY),
        {(name, series): float(value) for name, value in _read_fixed(container).items()},
        make_series_id("container_cpu_usage_seconds_total", {**labels, "cpu": "total"}),
        tuple((name, series) for name in periods),
    )


def _read_fixed(container: Object) -> dict[str, float]:
    limits, requests = (block(container, "resources").get(what) or {} for what in ("limits", "requests"))
    cores = parse_quantity(limits.get("cpu", 0))
    values = {
        "container_memory_cache": 0.0,
        "container_memory_swap": 0.0,
        "container_spec_memory_limit_bytes": parse_quantity(limits.get("memory", 0)),
        "container_spec_cpu_period": _PERIOD_MICROSECONDS,
        "container_spec_cpu_shares": max(2.0, parse_quantity(requests.get("cpu", limits.get("cpu", 0))) * 1024),
    }
    if cores:
        values["container_spec_cpu_quota"] = cores * _PERIOD_MICROSECONDS
    return values


def _sample_cpu(container: _Container, used: Usage, dt: float) -> Iterator[Sample]:
    yield container.cpu, used.cpu_cores * dt
    periods = dt * PERIODS_PER_SECOND
    yield from zip(container.periods, (periods, periods * used.throttled_ratio), strict=False)


def _count_network(moved: NetworkUsage, dt: float) -> tuple[float, ...]:
    """Count in the order of ``_NETWORK``; every second packet is acknowledged (RFC 1122)."""
    came, went = moved.received / _SEGMENT_BYTES, moved.sent / _SEGMENT_BYTES
    return moved.received * dt, moved.sent * dt, (came + went / 2) * dt, (went + came / 2) * dt
