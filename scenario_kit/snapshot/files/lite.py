"""``lite/``: the short tables of ITBench's recorder, derived from the long ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.snapshot.files.columns import LOG_COLUMNS
from scenario_kit.snapshot.files.metrics import POD_COLUMNS, SERVICE_COLUMNS
from scenario_kit.snapshot.files.traces import TRACE_COLUMNS

#: Severity numbers from which a line is a warning or worse (OpenTelemetry's log data model).
_WARN: Final = 13
_RESOURCE: Final = re.compile(r"'k8s\.resource\.name': '([^']*)'")
_NAMESPACE: Final = re.compile(r"'k8s\.namespace\.name': '([^']*)'")
_USAGE: Final = re.compile(r"cpu|memory")

Cells = Sequence[object]


class LiteTable(NamedTuple):
    """A short table: its columns, the projection of a row, and the row filter."""

    columns: tuple[str, ...]
    cut: Callable[[Cells], Cells]
    keeps: Callable[[Cells], bool]


def _spell_column(name: str) -> str:
    """Convert a column name for short tables: ``SpanName`` becomes ``span_name``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _select_columns(source: Sequence[str], *names: str) -> tuple[tuple[str, ...], Callable[[Cells], Cells]]:
    places = [source.index(name) for name in names]
    return tuple(map(_spell_column, names)), lambda cells: [cells[place] for place in places]


def _cut_event(cells: Cells) -> Cells:
    return [cells[0], cells[_BODY], _find(_NAMESPACE, cells[_ATTRIBUTES])]


def _cut_object(cells: Cells) -> Cells:
    return [*_cut_event(cells), _find(_RESOURCE, cells[_LOG_ATTRIBUTES])]


def _find(pattern: re.Pattern[str], cell: object) -> str:
    match = pattern.search(str(cell))
    return match[1] if match else ""


def _drop_tags(columns: Sequence[str]) -> tuple[tuple[str, ...], Callable[[Cells], Cells]]:
    return _select_columns(columns, *(name for name in columns if name != "tags"))


_BODY, _ATTRIBUTES = LOG_COLUMNS.index("Body"), LOG_COLUMNS.index("ResourceAttributes")
_LOG_ATTRIBUTES, _NUMBER = LOG_COLUMNS.index("LogAttributes"), LOG_COLUMNS.index("SeverityNumber")
_STATUS: Final = TRACE_COLUMNS.index("StatusCode")
_LOGS: Final = _select_columns(
    LOG_COLUMNS, "Timestamp", "TraceId", "SpanId", "TraceFlags", "SeverityText", "SeverityNumber", "ServiceName",
    "Body", "ResourceAttributes", "LogAttributes",
)  # fmt: skip
_TRACES: Final = _select_columns(
    TRACE_COLUMNS, "Timestamp", "TraceId", "SpanId", "ParentSpanId", "TraceState", "SpanName", "SpanKind",
    "ServiceName", "ScopeName", "ScopeVersion", "Duration", "StatusCode", "StatusMessage",
)  # fmt: skip
#: The short tables, by the name of the long one. All namespaces of a snapshot are the app's.
LITE_TABLES: Final[Mapping[str, LiteTable]] = {
    "k8s_events": LiteTable(("timestamp", "body", "namespace"), _cut_event, lambda _: True),
    "k8s_objects": LiteTable(
        ("timestamp", "body", "namespace", "resource_type"), _cut_object, lambda cells: bool(_cut_event(cells)[2])
    ),
    "otel_logs": LiteTable(*_LOGS, lambda cells: int(str(cells[_NUMBER])) >= _WARN),
    "otel_traces": LiteTable(*_TRACES, lambda cells: cells[_STATUS] == "Error"),
    "metrics_pod": LiteTable(*_drop_tags(POD_COLUMNS), lambda cells: bool(_USAGE.search(str(cells[0])))),
    "metrics_service": LiteTable(*_drop_tags(SERVICE_COLUMNS), lambda cells: bool(_USAGE.search(str(cells[0])))),
}
