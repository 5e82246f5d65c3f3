"""OpenRCA data sets (https://github.com/microsoft/OpenRCA): telemetry, seven queries about it, and their answers.

Each incident is a separate system, like OpenRCA's ``Market/cloudbed-1``, since snapshots may start on the same day.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from scenario_kit.catalog import Catalog
from scenario_kit.exporters.files import ExportedFile, ExportedFolder, Table
from scenario_kit.exporters.root_components import RootComponent, find_root_components
from scenario_kit.exporters.service_metrics import Sample, read_service_metrics
from scenario_kit.exporters.snapshot_incident import SnapshotIncident
from scenario_kit.snapshot.reader import SnapshotFolder, parse_map

#: The elements required by each task, in the order of OpenRCA's specification.
TASKS: Final[Mapping[str, tuple[str, ...]]] = {
    "task_1": ("time",),
    "task_2": ("reason",),
    "task_3": ("component",),
    "task_4": ("time", "reason"),
    "task_5": ("time", "component"),
    "task_6": ("component", "reason"),
    "task_7": ("time", "component", "reason"),
}
_ELEMENTS: Final[Mapping[str, str]] = {
    "time": "root cause occurrence datetime",
    "component": "root cause component",
    "reason": "root cause reason",
}
_POINTS: Final[Mapping[str, str]] = {
    "time": "The {index} root cause occurrence time is within 1 minutes (i.e., <=1min) of {value}",
    "component": "The {index} predicted root cause component is {value}",
    "reason": "The {index} predicted root cause reason is {value}",
}
_KPI: Final = ("timestamp", "cmdb_id", "kpi_name", "value")
_SPAN: Final = (
    "timestamp", "cmdb_id", "span_id", "trace_id", "duration", "type", "status_code", "operation_name", "parent_span",
)  # fmt: skip
_LOG: Final = ("log_id", "timestamp", "cmdb_id", "log_name", "value")
_SERVICE: Final = ("service", "timestamp", "rr", "sr", "mrt", "count")
_CONTAINER: Final = frozenset({"cpu", "mem"})


def build_openrca_systems(incidents: Sequence[SnapshotIncident]) -> list[ExportedFolder]:
    """Build a system for each incident: ``query.csv``, ``record.csv`` and ``telemetry/<date>``.

    Raises:
        AuthoringError: an incident is a control, or a root cause neither is a component nor affects one.
    """
    reasons = {name_reason(name) for name in Catalog().faults()}
    reasons |= {name_reason(fault.type) for incident in incidents for fault in incident.faults}
    return [_build_system(incident, sorted(reasons)) for incident in incidents]


def name_reason(fault: str) -> str:
    """Return the OpenRCA reason of a fault type."""
    return fault.replace("-", " ")


def _build_system(incident: SnapshotIncident, reasons: Sequence[str]) -> ExportedFolder:
    snapshot = SnapshotFolder(incident.folder)
    roots = find_root_components(incident)
    samples = read_service_metrics(snapshot)
    components = sorted({sample.service for sample in samples} | {root.name for root in roots})
    times = incident.manifest.times
    start = times.start.seconds
    day = f"telemetry/{datetime.fromtimestamp(start, UTC):%Y_%m_%d}"
    question = (
        f"{incident.brief.strip()} In the period from {_format(start)} to {_format(times.handover.seconds)} "
        f"(UTC), {_count(len(roots))} of {incident.manifest.app} began. "
    )
    candidates = f" Components are {', '.join(components)}. Reasons are {', '.join(reasons)}."
    queries = [
        (task, f"{question}Give the {' and the '.join(_ELEMENTS[e] for e in asked)}.{candidates}", _score(roots, asked))
        for task, asked in TASKS.items()
    ]
    records = [
        (root.level, root.name, round(root.fault.at), _format(root.fault.at), name_reason(root.fault.type))
        for root in roots
    ]
    return ExportedFolder(
        incident.name,
        {
            "query.csv": _write_table(("task_index", "instruction", "scoring_points"), queries),
            "record.csv": _write_table(("level", "component", "timestamp", "datetime", "reason"), records),
            f"{day}/metric/metric_container.csv": _write_table(_KPI, _list_kpis(samples)),
            f"{day}/metric/metric_service.csv": _write_table(_SERVICE, _list_services(samples)),
            f"{day}/trace/trace_span.csv": ExportedFile(table=Table(_SPAN, lambda: _read_spans(snapshot))),
            f"{day}/log/log_service.csv": ExportedFile(table=Table(_LOG, lambda: _read_logs(snapshot))),
        },
    )


def _write_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> ExportedFile:
    return ExportedFile(table=Table(columns, lambda: rows))


def _count(failures: int) -> str:
    return "one failure" if failures == 1 else f"{failures} failures"


def _score(roots: Sequence[RootComponent], elements: Sequence[str]) -> str:
    """Render a query's scoring points, one per line; OpenRCA's evaluator reads a value up to the end of its line."""
    points = []
    for number, root in enumerate(roots, start=1):
        values = {"time": _format(root.fault.at), "component": root.name, "reason": name_reason(root.fault.type)}
        index = "only" if len(roots) == 1 else f"{number}-th"
        points += [_POINTS[each].format(index=index, value=values[each]) for each in elements]
    return "\n".join(points)


def _format(at: float) -> str:
    return f"{datetime.fromtimestamp(round(at), UTC):%Y-%m-%d %H:%M:%S}"


def _list_kpis(samples: Sequence[Sample]) -> list[tuple[Any, ...]]:
    return [(round(s.at), s.service, s.metric, s.value) for s in samples if s.metric in _CONTAINER]


def _list_services(samples: Sequence[Sample]) -> list[tuple[Any, ...]]:
    """List per service and scrape: response rate and success rate in percent, median latency in milliseconds, and
    requests per second.
    """
    found: dict[tuple[float, str], dict[str, float]] = {}
    for sample in samples:
        if sample.metric not in _CONTAINER:
            found.setdefault((sample.at, sample.service), {})[sample.metric] = sample.value
    rows = []
    for (at, service), values in found.items():
        count = values.get("workload", 0.0)
        success = 100.0 * (1 - values.get("error", 0.0) / count) if count else 100.0
        rows.append((service, round(at), 100.0, success, values.get("latency-50", 0.0) * 1000, count))
    return rows


def _read_spans(snapshot: SnapshotFolder) -> Iterator[Sequence[Any]]:
    """Read spans, with timestamps in milliseconds and durations in microseconds."""
    for row in snapshot.read_spans():
        pod = parse_map(row["ResourceAttributes"]).get("k8s.pod.name", row["ServiceName"])
        yield (
            round(row.at * 1000), pod, row["SpanId"], row["TraceId"],
            round(int(row["Duration"]) / 1000), row["SpanKind"].lower(), row["StatusCode"] or "Unset", row["SpanName"],
            row["ParentSpanId"],
        )  # fmt: skip


def _read_logs(snapshot: SnapshotFolder) -> Iterator[Sequence[Any]]:
    for number, row in enumerate(snapshot.read_logs(), start=1):
        pod = parse_map(row["ResourceAttributes"]).get("k8s.pod.name", row["ServiceName"])
        name = f"log_{row['ServiceName']}-service_application"
        yield f"{number:08d}", int(row.at), pod, name, row["Body"]
