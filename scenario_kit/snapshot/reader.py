"""Read snapshots: ours and ITBench's, whose file names vary slightly between publications.

The reader does not depend on the catalogue. Tables are streamed row by row, so that memory use is independent of size.
"""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.model import Finding, Position, Severity
from scenario_kit.model.kubernetes.timestamp import parse_timestamp
from scenario_kit.snapshot.folder.manifest import MANIFEST, Manifest, compute_checksum

#: Maximum size of a cell, which may contain a whole object.
_MAX_CELL: Final = 1 << 30
_RAW: Final = "observability_information_from_clickhouse/raw"
_ALERTS: Final = "alerts_at_"
_HANDED_OVER: Final = "alerts_in_alerting_state_"
_ALERT_TIMES: Final = ("%Y-%m-%dT%H-%M-%S.%f", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H%M%S.%fZ")


class TableRow(dict[str, str]):
    """The cells of a row, by column. ``place`` is its file and line."""

    def __init__(self, cells: Iterable[tuple[str, str]], place: tuple[Path, int]) -> None:
        super().__init__(cells)
        self.place = place

    @property
    def at(self) -> float:
        """The timestamp, in seconds since the epoch.

        Raises:
            AuthoringError: the cell is not a timestamp.
        """
        cell = self.get("Timestamp") or self.get("timestamp", "")
        try:
            return parse_timestamp(f"{cell}+00:00")
        except ValueError as error:
            path, line = self.place
            message = f"'{cell[:40]}' is not a timestamp"
            finding = _report(path, f"has a row whose time {message}", "2025-01-06 00:00:01.5", cell, line=line)
            raise AuthoringError(f"{path}:{line}: {message}", [finding]) from error


class AlertsAt(NamedTuple):
    """The firing alerts at an instant, in Prometheus' format; ``at`` is in seconds since the epoch."""

    at: float
    alerts: Sequence[Mapping[str, Any]]


class MetricFile(NamedTuple):
    """The metric file of a pod or service."""

    kind: str
    name: str
    path: Path


class SnapshotFolder:
    """One snapshot. Without a manifest, ``manifest`` is None and the folder cannot be verified."""

    def __init__(self, folder: Path) -> None:
        """Open a folder; its files are read lazily.

        Raises:
            UsageError: no such folder, or not a snapshot.
            AuthoringError: the manifest is invalid.
        """
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder", fix="pass the folder of a snapshot")
        self.folder = folder
        self._tables = folder / _RAW if (folder / _RAW).is_dir() else folder
        if self.find_table("k8s_events") is None and not (folder / "alerts").is_dir():
            raise UsageError(f"{folder} is not a snapshot", fix="pass a folder with alerts/ and k8s_events_raw.tsv")
        self.manifest = _read_manifest(folder / MANIFEST)

    def verify(self) -> None:
        """Verify all files against the manifest, and that there are no others.

        Raises:
            AuthoringError: a mismatch; one finding per file.
            UsageError: no manifest.
        """
        if self.manifest is None:
            raise UsageError(f"{self.folder} has no {MANIFEST} and cannot be verified", fix="create the snapshot again")
        known = {each.path: each for each in self.manifest.files}
        present = {p.relative_to(self.folder).as_posix(): p for p in self.folder.rglob("*") if p.is_file()}
        present.pop(MANIFEST, None)
        findings = [_report(self.folder / path, "is missing", "there", "") for path in sorted(known.keys() - present)]
        findings += [
            _report(self.folder / path, "is not in the manifest", "no such file", "there")
            for path in sorted(present.keys() - known)
        ]
        for path in sorted(known.keys() & present):
            if (found := compute_checksum(present[path])) != known[path].sha256:
                findings.append(_report(present[path], "was changed", f"SHA-256 {known[path].sha256}", found))
        if findings:
            raise AuthoringError(f"{self.folder}: {findings[0].message}", findings)

    def read_alerts(self) -> Iterator[AlertsAt]:
        """Read the firing alerts of each minute."""
        found = []
        for path in (self.folder / "alerts").glob(f"{_ALERTS}*.json"):
            found.append((_parse_alert_time(path.stem.removeprefix(_ALERTS)), path))
        for at, path in sorted(found):
            document = json.loads(path.read_text(encoding="utf-8"))
            yield AlertsAt(at, document if isinstance(document, list) else document["data"]["alerts"])

    def read_last_alerts(self) -> AlertsAt | None:
        """Read the alerts firing at the hand-over, or else at the last recorded minute; None without any."""
        for path in sorted((self.folder / "alerts").glob(f"{_HANDED_OVER}*.json"), reverse=True):
            document = json.loads(path.read_text(encoding="utf-8"))
            return AlertsAt(_parse_alert_time(path.stem.removeprefix(_HANDED_OVER)), document["data"]["alerts"])
        return max(self.read_alerts(), key=lambda look: look.at, default=None)

    def read_events(self) -> Iterator[TableRow]:
        """Read all writes of events: cells by column, ``Body`` is JSON."""
        return self._read("k8s_events")

    def read_objects(self) -> Iterator[TableRow]:
        """Read objects at five-minute intervals: cells by column, ``Body`` is JSON."""
        return self._read("k8s_objects")

    def read_logs(self) -> Iterator[TableRow]:
        """Read container logs: cells by column, ``Body`` is the line."""
        return self._read("otel_logs")

    def read_spans(self) -> Iterator[TableRow]:
        """Read spans: cells by column, ``Duration`` in nanoseconds."""
        return self._read("otel_traces")

    def list_metrics(self) -> list[MetricFile]:
        """List the metric files."""
        found = []
        for folder, kind in (("metrics", ""), ("metrics_pod", "pod"), ("metrics_service", "service")):
            for path in sorted((self._tables / folder).glob("*.tsv")):
                stem = path.stem.removesuffix("_raw")
                prefix = next((k for k in ("pod", "service") if stem.startswith(f"{k}_")), kind)
                found.append(MetricFile(prefix or kind, stem.removeprefix(f"{prefix}_"), path))
        return found

    def read_metrics(self, file: MetricFile) -> Iterator[TableRow]:
        """Read the samples of a file: cells by column."""
        return read_table(file.path)

    def find_topology(self) -> Path | None:
        """Find the operational topology; None if it does not exist."""
        path = self.folder / "topology_information" / "operational_graph.json"
        return path if path.is_file() else None

    def find_table(self, name: str) -> Path | None:
        """Find a table by its name without ``_raw``; None if it was omitted."""
        paths = (self._tables / f"{name}_raw.tsv", self._tables / f"{name}.tsv")
        return next((path for path in paths if path.is_file()), None)

    def _read(self, name: str) -> Iterator[TableRow]:
        path = self.find_table(name)
        return read_table(path) if path is not None else iter(())


def read_table(path: Path) -> Iterator[TableRow]:
    """Read a table row by row.

    Raises:
        AuthoringError: a row whose number of cells differs from the header, with its line.
    """
    csv.field_size_limit(_MAX_CELL)
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream, delimiter="\t")
        header = next(reader, [])
        for cells in reader:
            if len(cells) != len(header):
                message = f"a row has {len(cells)} cells"
                finding = _report(path, message, f"{len(header)}, as the header", "", line=reader.line_num)
                raise AuthoringError(f"{path}:{reader.line_num}: {message}, expected {len(header)}", [finding])
            yield TableRow(zip(header, cells, strict=True), (path, reader.line_num))


def parse_map(cell: str) -> dict[str, str]:
    """Parse a cell with a map as a Python literal; an empty cell is an empty map.

    Raises:
        ValueError: not a map.
    """
    try:
        found = ast.literal_eval(cell) if cell else {}
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(f"not a map: {cell[:80]!r}") from error
    if not isinstance(found, dict):
        raise ValueError(f"not a map: {cell[:80]!r}")
    return found


def _parse_alert_time(text: str) -> float:
    for form in _ALERT_TIMES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    raise AuthoringError(f"alerts at '{text}': not a timestamp", fix="alerts_at_<YYYY-MM-DDTHH-MM-SS.ffffff>.json")


def _read_manifest(path: Path) -> Manifest | None:
    if not path.is_file():
        return None
    try:
        return Manifest.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, msgspec.ValidationError) as error:
        finding = _report(path, f"is not a valid manifest: {error}", "a manifest of this version", "")
        raise AuthoringError(f"{path}: {finding.message}", [finding]) from error


def _report(path: Path, message: str, expected: str, observed: str, *, line: int = 1) -> Finding:
    return Finding(
        code="SK104", severity=Severity.ERROR, message=f"{path.name} {message}", expected=expected, observed=observed,
        position=Position(path=str(path), line=line, column=1), fix="create the snapshot again",
    )  # fmt: skip
