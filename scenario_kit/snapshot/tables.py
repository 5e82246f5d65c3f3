"""Long and short tables, written while a recording is read."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from scenario_kit.snapshot.files.columns import LOG_COLUMNS, Row, RowOrder, TableFile
from scenario_kit.snapshot.files.lite import LITE_TABLES
from scenario_kit.snapshot.files.metrics import POD_COLUMNS, SERVICE_COLUMNS
from scenario_kit.snapshot.files.traces import TRACE_COLUMNS
from scenario_kit.snapshot.settings import Signal, SnapshotSettings

LITE_FOLDER: Final = "lite"
_TABLES: Final[dict[str, tuple[tuple[str, ...], Signal | None]]] = {
    "k8s_events": (LOG_COLUMNS, "events"),
    "k8s_objects": (LOG_COLUMNS, None),
    "otel_logs": (LOG_COLUMNS, "logs"),
    "otel_traces": (TRACE_COLUMNS, "traces"),
}
_SERIES: Final = {"metrics_pod": POD_COLUMNS, "metrics_service": SERVICE_COLUMNS}
_FOLDERS: Final = {"metrics_pod": "metrics/pod", "metrics_service": "metrics/service"}


class PairedTable:
    """A long table and its optional short table."""

    def __init__(self, kind: str, long: TableFile, short: TableFile | None) -> None:
        self._cut = LITE_TABLES[kind]
        self._long = long
        self._short = short

    def write(self, rows: Iterable[tuple[object, ...]]) -> None:
        """Write rows."""
        if self._short is None:
            self._long.write(rows)
            return
        kept = list(rows)
        self._long.write(kept)
        self._short.write(self._cut.cut(cells) for cells in kept if self._cut.keeps(cells))


class SignalTables:
    """The tables of events, objects, logs and traces, whose rows arrive nearly in order of time."""

    def __init__(self, folder: Path, settings: SnapshotSettings, stack: ExitStack) -> None:
        self._orders: dict[str, RowOrder] = {}
        self._files: dict[str, PairedTable] = {}
        for name, (columns, signal) in _TABLES.items():
            if signal is None or settings.keeps(signal):
                long = stack.enter_context(TableFile(folder / f"{name}_raw.tsv", columns))
                short = None
                if settings.lite:
                    short = stack.enter_context(
                        TableFile(folder / LITE_FOLDER / f"{name}.tsv", LITE_TABLES[name].columns)
                    )
                self._files[name], self._orders[name] = PairedTable(name, long, short), RowOrder()

    def add(self, name: str, rows: Iterable[Row]) -> None:
        """Add rows to a table; rows of omitted tables are dropped."""
        if (order := self._orders.get(name)) is not None:
            for row in rows:
                order.add(row)

    def release(self, before: float) -> None:
        """Write the rows before a time."""
        for name, order in self._orders.items():
            self._files[name].write(order.release(before))


def write_series(
    folder: Path, kind: str, name: str, rows: Iterable[tuple[object, ...]], settings: SnapshotSettings
) -> None:
    """Write the series of a pod or a service (``metrics_pod``, ``metrics_service``)."""
    place, _, prefix = _FOLDERS[kind].partition("/")
    columns = LITE_TABLES[kind].columns
    with ExitStack() as stack:
        long = TableFile(folder / place / f"{prefix}_{name}_raw.tsv", _SERIES[kind])
        short = None
        if settings.lite:
            short = stack.enter_context(TableFile(folder / LITE_FOLDER / kind / f"{prefix}_{name}.tsv", columns))
        PairedTable(kind, stack.enter_context(long), short).write(rows)


def prepare_folders(folder: Path, settings: SnapshotSettings) -> None:
    """Create the subfolders."""
    for part in ("alerts", "topology_information", *(("metrics",) if settings.keeps("metrics") else ())):
        (folder / part).mkdir()
    if settings.lite:
        (folder / LITE_FOLDER).mkdir()
        for kind in _FOLDERS if settings.keeps("metrics") else ():
            (folder / LITE_FOLDER / kind).mkdir()
