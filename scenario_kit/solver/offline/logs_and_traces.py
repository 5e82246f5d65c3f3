"""Log lines and traces of a snapshot."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, cast

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.timestamp import parse_timestamp
from scenario_kit.model.runtime.trace import Scalar, Span, SpanEvent, SpanKind, SpanRef, Trace
from scenario_kit.ports import LogLine
from scenario_kit.snapshot.reader import TableRow, parse_map

_KINDS: Final = ("SERVER", "CLIENT", "INTERNAL", "PRODUCER", "CONSUMER")
_parse_resource = lru_cache(maxsize=4096)(parse_map)


class CellMap(Mapping[str, Scalar]):
    """A lazily parsed map in a table cell, since the attributes of most spans are never read."""

    def __init__(self, cell: str) -> None:
        self._cell = cell
        self._parsed: Mapping[str, str] | None = None

    def __getitem__(self, key: str) -> Scalar:
        return self._parse()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parse())

    def __len__(self) -> int:
        return len(self._parse())

    def _parse(self) -> Mapping[str, str]:
        if self._parsed is None:
            self._parsed = _read_map(self._cell)
        return self._parsed


def read_lines(rows: Iterable[TableRow], pods: Iterable[Object]) -> dict[str, list[LogLine]]:
    """Read log lines by pod name; lines without one belong to the first pod of their service."""
    names = sorted(str(pod["metadata"]["name"]) for pod in pods)
    found: dict[str, list[LogLine]] = {}
    for row in rows:
        resource = _read_map(row.get("ResourceAttributes", ""))
        service = row.get("ServiceName", "")
        pod = resource.get("k8s.pod.name") or next((name for name in names if name.startswith(f"{service}-")), "")
        if pod:
            container = resource.get("k8s.container.name") or service
            found.setdefault(pod, []).append(LogLine(pod, container, row.at, row["Body"]))
    return found


def read_traces(rows: Iterable[TableRow]) -> list[Trace]:
    """Read traces, with spans sorted by start."""
    found: dict[str, list[Span]] = {}
    for row in rows:
        found.setdefault(row["TraceId"], []).append(_read_span(row))
    return [Trace(name, tuple(sorted(spans, key=lambda span: span.start))) for name, spans in found.items()]


def _read_span(row: TableRow) -> Span:
    kind = row.get("SpanKind", "").upper()
    return Span(
        trace_id=row["TraceId"], span_id=row["SpanId"], parent=row.get("ParentSpanId", ""),
        service=row.get("ServiceName", ""), name=row.get("SpanName", ""),
        kind=cast("SpanKind", kind if kind in _KINDS else "INTERNAL"),
        start=row.at, seconds=float(row.get("Duration") or 0) / 1e9,
        error=row.get("StatusCode") in ("Error", "STATUS_CODE_ERROR"), message=row.get("StatusMessage", ""),
        attributes=CellMap(row.get("SpanAttributes", "")), resource=_read_map(row.get("ResourceAttributes", "")),
        links=_read_links(row), events=_read_events(row),
    )  # fmt: skip


def _read_links(row: TableRow) -> tuple[SpanRef, ...]:
    pairs = zip(_read_list(row.get("Links.TraceId", "")), _read_list(row.get("Links.SpanId", "")), strict=False)
    return tuple(SpanRef(str(trace), str(span)) for trace, span in pairs)


def _read_events(row: TableRow) -> tuple[SpanEvent, ...]:
    times = _read_list(row.get("Events.Timestamp", ""))
    names = _read_list(row.get("Events.Name", ""))
    attributes = _read_list(row.get("Events.Attributes", ""))
    found = []
    for at, name, each in zip(times, names, attributes, strict=False):
        try:
            found.append(SpanEvent(parse_timestamp(f"{at}+00:00"), str(name), each if isinstance(each, dict) else {}))
        except ValueError:
            continue
    return tuple(found)


def _read_map(cell: str) -> Mapping[str, str]:
    """Parse a map; empty if invalid, since some recorders write truncated cells."""
    try:
        return _parse_resource(cell)
    except ValueError:
        return {}


def _read_list(cell: str) -> list[Any]:
    if cell in ("", "[]"):
        return []
    try:
        found = ast.literal_eval(cell)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return list(found) if isinstance(found, list) else []
