"""``metrics/``: the series of each pod and of each service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.ports import Metrics, Series
from scenario_kit.snapshot.canonical.names import NameMap
from scenario_kit.snapshot.canonical.times import TimeShift
from scenario_kit.snapshot.files.columns import format_map, format_milliseconds, format_value

POD_COLUMNS: Final = ("metric_name", "timestamp", "value", "pod_name", "namespace", "tags")
SERVICE_COLUMNS: Final = (
    "metric_name", "timestamp", "value", "service_name", "namespace", "bucket_le", "tags", "metric_type", "status_code",
)  # fmt: skip
BUCKETS: Final = "traces_span_metrics_duration_milliseconds_bucket"
CALLS: Final = "traces_span_metrics_calls_total"
_ERROR: Final = "STATUS_CODE_ERROR"
#: Roles of services without recorded series.
UNRECORDED: Final = ("Flags", "Load")
_NODE_LABELS: Final = ("node", "instance", "host_ip")

_stamp = lru_cache(maxsize=1 << 14)(format_milliseconds)


class SeriesWindow(NamedTuple):
    """Time window of a query, both ends included."""

    start: float
    end: float


def read_series(metrics: Metrics, matchers: str, span: SeriesWindow, step: float = GRID_SECONDS) -> list[Series]:
    """Read series with a sample every ``step`` seconds, sorted by labels.

    Raises:
        MetricsError: Prometheus does not answer.
    """
    found = metrics.range(f"{{{matchers}}}", span.start, span.end, float(step))
    return sorted(found, key=lambda series: sorted(series.labels.items()))


def select_all(namespaces: Sequence[str], label: str, value: str = "") -> str:
    """Build matchers for the app's series with a label."""
    where = f'namespace=~"{"|".join(namespaces)}"'
    return f'{where},{label}="{value}"' if value else f'{where},{label}!=""'


def list_pod_rows(series: Iterable[Series], names: NameMap, shift: TimeShift) -> Iterator[tuple[object, ...]]:
    """List the rows of the series of a pod."""
    for each in series:
        labels = rename_labels(each.labels, names)
        name, tags = each.labels["__name__"], format_map({k: v for k, v in labels.items() if k != "__name__"})
        for at, value in each.points:
            yield name, _stamp(shift.shows(at)), format_value(value), labels["pod"], labels["namespace"], tags


def list_service_rows(series: Iterable[Series], names: NameMap, shift: TimeShift) -> Iterator[tuple[object, ...]]:
    """List the rows of the series of a service; of calls, only failed ones are recorded."""
    for each in series:
        name = each.labels["__name__"]
        if name == CALLS and each.labels.get("status_code") != _ERROR:
            continue
        labels = rename_labels(each.labels, names)
        tags = format_map({k: v for k, v in labels.items() if k != "__name__"})
        tail = (
            labels["service_name"], labels.get("namespace", ""), labels.get("le", ""), tags, find_type(name),
            labels.get("status_code", ""),
        )  # fmt: skip
        for at, value in each.points:
            yield name, _stamp(shift.shows(at)), format_value(value), *tail


def find_type(name: str) -> str:
    """Return the recorder's type of a series, which denotes its purpose."""
    return {BUCKETS: "duration_p95", CALLS: "error_rate"}.get(name, "")


def rename_labels(labels: Mapping[str, str], names: NameMap) -> dict[str, str]:
    """Replace names in label values."""
    pod = labels.get("pod", "") or (labels.get("targetref_name", "") if labels.get("targetref_kind") == "Pod" else "")
    shown = {key: names.rename(value) for key, value in labels.items()}
    for key in (*_NODE_LABELS, "endpoint_nodename"):
        if key in shown:
            shown[key] = names.rename_beside(labels[key], pod)
    return shown
