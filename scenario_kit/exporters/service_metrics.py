"""Service metrics as telemetry data sets have them: a few values per service and scrape."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from scenario_kit.model.runtime.trace import SERVED_LABELS
from scenario_kit.snapshot.reader import MetricFile, SnapshotFolder, parse_map

_CPU: Final = "container_cpu_usage_seconds_total"
_MEMORY: Final = "container_memory_working_set_bytes"
_SPANS: Final = "traces_span_metrics_duration_milliseconds_"
_FAILED: Final = "STATUS_CODE_ERROR"
_HASHED: Final = re.compile(r"-[a-z0-9]+$")

Series = dict[float, float]


class Sample(NamedTuple):
    """One value of a service's metric; ``at`` in seconds since the epoch.

    The metrics are cpu (cores), mem (bytes), workload (requests/s), error (failed requests/s), and the quantiles
    latency-50 and latency-90 (s).
    """

    at: float
    service: str
    metric: str
    value: float


def read_service_metrics(snapshot: SnapshotFolder) -> list[Sample]:
    """Read the metrics of services from a snapshot, ordered by time, service and metric.

    CPU and memory are summed over the pods of a workload; request metrics are server-side, and latencies are quantiles
    of the span histogram, computed like PromQL's ``histogram_quantile``.
    """
    found: dict[tuple[str, str], Series] = defaultdict(lambda: defaultdict(float))
    for file in snapshot.list_metrics():
        samples = _read_pod(snapshot, file) if file.kind == "pod" else _read_service(snapshot, file)
        for sample in samples:
            found[sample.service, sample.metric][sample.at] += sample.value
    return sorted(
        Sample(at, service, metric, value)
        for (service, metric), series in found.items()
        for at, value in series.items()
    )


def _read_pod(snapshot: SnapshotFolder, file: MetricFile) -> Iterator[Sample]:
    """Read CPU and memory of the pod's containers; the service is the pod's workload."""
    owner = _HASHED.sub("", file.name)
    usage: dict[str, Series] = defaultdict(dict)
    memory: Series = defaultdict(float)
    for row in snapshot.read_metrics(file):
        name = row["metric_name"]
        if name == "kube_pod_owner":
            tags = parse_map(row["tags"])
            hashed = tags.get("owner_kind") == "ReplicaSet"
            owner = _HASHED.sub("", tags["owner_name"]) if hashed else tags["owner_name"]
        elif name == _CPU:
            tags = parse_map(row["tags"])
            usage[f"{tags.get('container')} {tags.get('id')}"][row.at] = float(row["value"])
        elif name == _MEMORY:
            memory[row.at] += float(row["value"])
    for series in usage.values():
        yield from (Sample(at, owner, "cpu", rate) for at, rate in compute_rates(series))
    yield from (Sample(at, owner, "mem", value) for at, value in memory.items())


def _read_service(snapshot: SnapshotFolder, file: MetricFile) -> Iterator[Sample]:
    """Read the server-side request metrics of a service from its span histogram."""
    counts: dict[tuple[str, bool], Series] = defaultdict(dict)
    buckets: dict[tuple[str, float], Series] = defaultdict(dict)
    for row in snapshot.read_metrics(file):
        suffix = row["metric_name"].removeprefix(_SPANS)
        if suffix not in ("count", "bucket"):
            continue
        tags = parse_map(row["tags"])
        if tags.get("span_kind") not in SERVED_LABELS:
            continue
        at, value = row.at, float(row["value"])
        key = f"{tags.get('span_name')} {tags.get('span_kind')} {tags.get('status_code')}"
        if suffix == "count":
            counts[key, tags.get("status_code") == _FAILED][at] = value
        else:
            buckets[key, float(tags["le"])][at] = value
    for (_, failed), series in counts.items():
        for at, rate in compute_rates(series):
            yield Sample(at, file.name, "workload", rate)
            yield Sample(at, file.name, "error", rate if failed else 0.0)
    rates_at: dict[float, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    for (_, bound), series in buckets.items():
        for at, rate in compute_rates(series):
            rates_at[at][bound] += rate
    for at, rates in rates_at.items():
        for metric, share in (("latency-50", 0.5), ("latency-90", 0.9)):
            if (milliseconds := compute_quantile(share, sorted(rates.items()))) is not None:
                yield Sample(at, file.name, metric, milliseconds / 1000)


def compute_rates(series: Series) -> Iterator[tuple[float, float]]:
    """Compute a counter's per-second increase at each sample; a drop is a counter reset."""
    for (before, was), (at, value) in pairwise(sorted(series.items())):
        yield at, (value - was if value >= was else value) / (at - before)


def compute_quantile(share: float, buckets: Sequence[tuple[float, float]]) -> float | None:
    """Compute a quantile from cumulative buckets by linear interpolation, like Prometheus; None if all are empty.

    Args:
        share: 0–1.
        buckets: pairs of upper bound and cumulative count, ascending; the last bound is infinite.
    """
    total = buckets[-1][1] if buckets else 0.0
    if total <= 0:
        return None
    rank, below, start = share * total, 0.0, 0.0
    for bound, count in buckets:
        if count >= rank:
            if bound == float("inf"):
                return start
            return start + (bound - start) * ((rank - below) / (count - below) if count > below else 1.0)
        below, start = count, bound
    return start
