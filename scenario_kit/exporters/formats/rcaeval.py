"""RCAEval data sets (https://github.com/phamquiluan/RCAEval): one folder per case, named after its root cause."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.exporters.files import ExportedFile, ExportedFolder, Table
from scenario_kit.exporters.root_components import find_root_components
from scenario_kit.exporters.service_metrics import read_service_metrics
from scenario_kit.exporters.snapshot_incident import SnapshotIncident
from scenario_kit.snapshot.reader import SnapshotFolder, parse_map

#: RCAEval's names of fault types.
_FAULTS: Final[Mapping[str, str]] = {
    "cpu-stress": "cpu", "memory-stress": "mem", "io-latency": "disk", "network-delay": "delay", "network-loss": "loss",
}  # fmt: skip
_LOG_COLUMNS: Final = ("time", "timestamp", "container_name", "message")
_SPAN_COLUMNS: Final = (
    "time", "traceID", "spanID", "serviceName", "methodName", "operationName", "startTimeMillis", "startTime",
    "duration", "statusCode", "parentSpanID",
)  # fmt: skip
#: OTLP's STATUS_CODE_ERROR; RCAEval counts every code but 0 as an error.
_ERROR: Final = 2


def build_rcaeval_cases(incidents: Sequence[SnapshotIncident]) -> list[ExportedFolder]:
    """Build one folder per app, with ``<service>_<fault>/<n>`` for each incident.

    Raises:
        AuthoringError: an incident does not have exactly one root cause, or its root cause maps to no component.
    """
    numbers = Counter[tuple[str, str]]()
    systems: dict[str, dict[str, ExportedFile]] = defaultdict(dict)
    for incident in sorted(incidents, key=lambda each: each.name):
        case, at = _name_case(incident)
        system = incident.manifest.app.partition(" ")[0]
        numbers[system, case] += 1
        place = f"{case}/{numbers[system, case]}"
        systems[system] |= {f"{place}/{name}": file for name, file in _build_case(incident, at).items()}
    return [ExportedFolder(system, files) for system, files in systems.items()]


def _name_case(incident: SnapshotIncident) -> tuple[str, float]:
    """Return the name of a case, ``<service>_<fault>``, and its injection time."""
    roots = find_root_components(incident)
    if len(roots) != 1:
        raise AuthoringError(
            f"{incident.folder} has {len(roots)} root causes; an RCAEval case has exactly one",
            fix="leave it out, or export it as `openrca`, `harbor` or `inspect`",
        )
    (root,) = roots
    return f"{root.name}_{_FAULTS.get(root.fault.type, root.fault.type)}", root.fault.at


def _build_case(incident: SnapshotIncident, injected: float) -> dict[str, ExportedFile]:
    snapshot = SnapshotFolder(incident.folder)
    metrics = ExportedFile(table=_tabulate_metrics(snapshot))
    files = {
        "inject_time.txt": ExportedFile(f"{injected:.0f}\n"),
        "data.csv": metrics,
        "simple_metrics.csv": metrics,
        "cluster_info.json": ExportedFile(json.dumps({"namespaces": incident.namespaces}, indent=2) + "\n"),
    }
    if snapshot.find_table("otel_logs"):
        files["logs.csv"] = ExportedFile(table=Table(_LOG_COLUMNS, lambda: _read_logs(snapshot)))
    if snapshot.find_table("otel_traces"):
        files["traces.csv"] = ExportedFile(table=Table(_SPAN_COLUMNS, lambda: _read_spans(snapshot)))
    return files


def _tabulate_metrics(snapshot: SnapshotFolder) -> Table:
    """Tabulate metrics: a row per scrape, a column ``<service>_<metric>`` per series, empty without a sample."""
    samples = read_service_metrics(snapshot)
    columns = sorted({f"{s.service}_{s.metric}" for s in samples})
    rows: dict[float, dict[str, float]] = defaultdict(dict)
    for sample in samples:
        rows[sample.at][f"{sample.service}_{sample.metric}"] = sample.value
    return Table(
        ("time", *columns),
        lambda: ((round(at), *(values.get(column, "") for column in columns)) for at, values in sorted(rows.items())),
    )


def _read_logs(snapshot: SnapshotFolder) -> Iterator[Sequence[Any]]:
    for row in snapshot.read_logs():
        at = row.at
        container = parse_map(row["ResourceAttributes"]).get("k8s.container.name", row["ServiceName"])
        yield int(at), round(at * 1e6) * 1000, container, row["Body"]


def _read_spans(snapshot: SnapshotFolder) -> Iterator[Sequence[Any]]:
    """Read spans, with start times and durations in microseconds."""
    for row in snapshot.read_spans():
        start = round(row.at * 1e6)
        yield (
            start // 1_000_000, row["TraceId"], row["SpanId"], row["ServiceName"], row["SpanName"], row["SpanName"],
            start // 1000, start, round(int(row["Duration"]) / 1000), _ERROR if row["StatusCode"] == "Error" else 0,
            row["ParentSpanId"],
        )  # fmt: skip
