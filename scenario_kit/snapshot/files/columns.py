"""Rows, cells and times in the format of ITBench's recorder: tabs, RFC 4180 quotes, maps as Python literals."""

from __future__ import annotations

import csv
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple

#: Columns of events, objects and logs.
LOG_COLUMNS: Final = (
    "Timestamp", "TimestampTime", "TraceId", "SpanId", "TraceFlags", "SeverityText", "SeverityNumber", "ServiceName",
    "Body", "ResourceSchemaUrl", "ResourceAttributes", "ScopeSchemaUrl", "ScopeName", "ScopeVersion",
    "ScopeAttributes", "LogAttributes", "EventName",
)  # fmt: skip


class Row(NamedTuple):
    """A row and its time, by which rows are sorted; ``order`` breaks ties."""

    at: float
    order: tuple[Any, ...]
    cells: tuple[object, ...]


class TableFile:
    """A table file that is written row by row."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._stream = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._stream, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
        self._writer.writerow(columns)

    def __enter__(self) -> TableFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def write(self, rows: Iterable[Iterable[object]]) -> None:
        """Write rows."""
        self._writer.writerows(rows)


class RowOrder:
    """Sorts rows that arrive nearly in order of time, buffering each until no earlier one can arrive."""

    def __init__(self) -> None:
        self._held: list[tuple[float, tuple[Any, ...], int, tuple[object, ...]]] = []
        self._number = 0

    def add(self, row: Row) -> None:
        """Add a row."""
        self._number += 1
        heapq.heappush(self._held, (row.at, row.order, self._number, row.cells))

    def release(self, before: float) -> Iterator[tuple[object, ...]]:
        """Release the rows before a time, in order."""
        while self._held and self._held[0][0] < before:
            yield heapq.heappop(self._held)[3]


def format_nanoseconds(at: float) -> str:
    """Format as ``YYYY-MM-DD HH:MM:SS.nnnnnnnnn``; doubles have a resolution of about 240 ns."""
    return f"{_format(at)}{round(at * 1e6) % 1_000_000:06d}000"


def format_milliseconds(at: float) -> str:
    """Format as ``YYYY-MM-DD HH:MM:SS.mmm``."""
    whole = datetime.fromtimestamp(round(at * 1e3) // 1000, UTC)
    return f"{whole:%Y-%m-%d %H:%M:%S}.{round(at * 1e3) % 1000:03d}"


def format_time(at: float) -> str:
    """Format as ``YYYY-MM-DD HH:MM:SS``."""
    return _format(at)[:-1]


def format_map(values: Mapping[str, object]) -> str:
    """Format a map as ``{'k': 'v'}`` with string values, sorted by key."""
    return repr({key: values[key] if isinstance(values[key], str) else _spell(values[key]) for key in sorted(values)})


def format_value(value: float) -> str:
    """Format a sample."""
    return repr(float(value))


def build_log_cells(
    at: float,
    body: str,
    *,
    service: str = "",
    severity: tuple[str, int] = ("", 0),
    resource: Mapping[str, object] | None = None,
    scope: tuple[str, str] = ("", ""),
    attributes: Mapping[str, object] | None = None,
) -> tuple[object, ...]:
    """Build the cells of ``LOG_COLUMNS``; ``at`` is in snapshot time, ``scope`` is name and version."""
    return (
        format_nanoseconds(at), format_time(at), "", "", 0, *severity, service, body, "", format_map(resource or {}),
        "", *scope, "{}", format_map(attributes or {}), "",
    )  # fmt: skip


def _spell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _format(at: float) -> str:
    return f"{datetime.fromtimestamp(round(at * 1e6) // 1_000_000, UTC):%Y-%m-%d %H:%M:%S}."
