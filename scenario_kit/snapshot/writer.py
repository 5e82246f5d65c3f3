"""Write a snapshot in two passes over a recording, first for names, then for rows (docs/snapshot.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.load.staged_folders import stage_folders
from scenario_kit.model import Runbook, ScenarioSpec
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.kubernetes.timestamp import Timestamp, format_timestamp
from scenario_kit.snapshot.canonical.events import EventHistory, ShownEvent
from scenario_kit.snapshot.canonical.names import NameCollector, NameMap
from scenario_kit.snapshot.canonical.objects import ObjectHistory
from scenario_kit.snapshot.canonical.pods import PodDirectory
from scenario_kit.snapshot.canonical.times import TimeShift, keep_times, shift_to
from scenario_kit.snapshot.files import alerts, metrics
from scenario_kit.snapshot.files.events import list_event_rows
from scenario_kit.snapshot.files.logs import build_log_row
from scenario_kit.snapshot.files.objects import INTERVAL_SECONDS, list_object_rows
from scenario_kit.snapshot.files.topology import (
    build_app_graph,
    build_operational_graph,
    build_recorded_graph,
    list_graph_events,
)
from scenario_kit.snapshot.files.traces import SpanRows
from scenario_kit.snapshot.folder.leaks import scan_folder
from scenario_kit.snapshot.folder.manifest import MANIFEST, Manifest, SnapshotTimes, compute_checksum, list_files
from scenario_kit.snapshot.recording import Recording
from scenario_kit.snapshot.settings import SnapshotSettings
from scenario_kit.snapshot.tables import SignalTables, prepare_folders, write_series
from scenario_kit.snapshot.truth import write_truth

#: Default first day of snapshots of virtual trials.
FIRST_DAY: Final = date(2025, 1, 6)
#: Maximum lateness of rows in seconds; traces are complete after two minutes.
_LATE: Final = 240.0

Say = Callable[[str], None]


class SnapshotPlace(NamedTuple):
    """Destination of a snapshot: its folder and the folder of its ground truth."""

    folder: Path
    truth: Path


class SnapshotSource(NamedTuple):
    """Data for the manifest that is not in the recording."""

    spec: ScenarioSpec
    digests: Mapping[str, str]
    versions: Mapping[str, str]
    first_day: date = FIRST_DAY
    settings: SnapshotSettings = SnapshotSettings()
    played: Mapping[str, Any] = {}


def write_snapshot(
    recording: Recording, source: SnapshotSource, place: SnapshotPlace, say: Say = lambda _: None
) -> Manifest:
    """Write a snapshot and its ground truth atomically.

    Raises:
        UsageError: one of the folders already exists.
        AuthoringError: the snapshot would reveal the answer.
        InfrastructureError: the recording or Prometheus is unavailable.
    """
    with stage_folders((place.truth, place.folder)) as (truth, folder):
        names, shift = read_names(recording, source.first_day)
        settings = source.settings
        prepare_folders(folder, settings)
        say("objects, events, logs and traces")
        _write_ticks(folder, recording, settings, names, shift)
        say("alerts")
        _write_alerts(folder, recording, names, shift)
        if settings.keeps("metrics"):
            say("metrics")
            _write_metrics(folder, recording, settings, names, shift)
        write_truth(truth, place.folder.name, source.spec, recording, names)
        say("checksums")
        digests = {f"truth/{path.name}": compute_checksum(path) for path in sorted(truth.iterdir())}
        manifest = _build_manifest(folder, place.folder.name, recording, source, shift, digests)
        _write_json(folder / MANIFEST, manifest.to_json())
        _write_json(truth / MANIFEST, {"snapshot": compute_checksum(folder / MANIFEST), "files": digests})
        say("leak scan")
        if leaks := scan_folder(folder, recording.runbook):
            raise AuthoringError("the snapshot would reveal the answer and was not written", leaks, fix=leaks[0].fix)
    return manifest


def read_names(recording: Recording, first_day: date) -> tuple[NameMap, TimeShift]:
    """Build the canonical names and the time shift of a recording."""
    runbook = recording.runbook
    if not recording.virtual:
        shift = keep_times(recording.start, recording.handover)
        return NameMap({}, {}, shift), shift
    shift = shift_to(first_day, recording.start, recording.handover)
    home = runbook.app.namespace
    namespaces = {runbook.namespace: home} | {real: f"{home}-{symbol}" for symbol, real in runbook.namespaces.items()}
    namespaces |= dict(zip(recording.alerted, list(namespaces.values()), strict=False))
    collector = NameCollector(recording.seed, dict(sorted(namespaces.items(), key=lambda pair: -len(pair[0]))))
    for tick in recording.read_ticks():
        collector.collect(tick)
    return collector.build(shift, draws_places=not concerns_nodes(runbook)), shift


def concerns_nodes(runbook: Runbook) -> bool:
    """Return whether placement matters, so that the observed one is kept although it does not depend on the seed."""
    entities = [ref for f in runbook.faults for ref in (f.target, *(e.ref for e in f.entities)) if ref]
    return any(ref.rpartition(":")[2].startswith("Node/") for ref in entities) or any(
        "node" in f.type or "taint" in f.type for f in runbook.faults
    )


def _write_ticks(
    folder: Path, recording: Recording, settings: SnapshotSettings, names: NameMap, shift: TimeShift
) -> None:
    runbook = recording.runbook
    objects, pods = ObjectHistory(names, shift), PodDirectory(runbook.app, names)
    events, spans = EventHistory(names, shift, recording.handover), SpanRows(names, shift)
    counts: dict[tuple[str, str], int] = {}
    topologies = _Topologies(folder / "topology_information", runbook, recording, objects, shift)
    with ExitStack() as stack:
        tables = SignalTables(folder, settings, stack)
        listed = recording.start
        for tick in recording.read_ticks():
            pods.advance(tick)
            for event in events.advance(tick):
                if settings.keeps("events"):
                    topologies.add_event(event)
                tables.add("k8s_events", list_event_rows(event, shift))
            for trace in tick.traces:
                if settings.keeps_trace(trace.trace_id):
                    tables.add("otel_traces", spans.list_rows(trace, recording.handover))
            if tick.at > recording.handover:
                continue
            for line in tick.lines:
                key = (line.pod, line.container)
                counts[key] = counts.get(key, 0) + 1
                pod = pods.pods.get((line.namespace, line.pod))
                tables.add("otel_logs", [build_log_row(line, counts[key], pod, names, shift)])
            list(objects.advance(tick))
            topologies.write_due(tick.at)
            if tick.at >= listed or tick.at == recording.handover:
                listed = (tick.at // INTERVAL_SECONDS + 1) * INTERVAL_SECONDS
                tables.add("k8s_objects", list_object_rows(objects.current.values(), tick.at, shift))
            tables.release(tick.at - _LATE - recording.disorder)
        tables.release(float("inf"))
    topologies.write("end__", recording.handover)


class _Topologies:
    """Writes the object graphs at the start, after injection, and at the end."""

    def __init__(
        self, folder: Path, runbook: Runbook, recording: Recording, objects: ObjectHistory, shift: TimeShift
    ) -> None:
        self._folder = folder
        self._runbook = runbook
        self._objects = objects
        self._shift = shift
        self._events: list[ShownEvent] = []
        after = recording.injected + GRID_SECONDS if recording.injected is not None else float("inf")
        before = recording.injected if recording.injected is not None else recording.handover
        self._due: list[tuple[str, float]] = [("init__", before), ("post_fault_injection__", after)]

    def add_event(self, event: ShownEvent) -> None:
        """Add an event to the graphs written later."""
        self._events.append(event)

    def write_due(self, at: float) -> None:
        """Write the graphs due at a tick."""
        while self._due and at >= self._due[0][1]:
            self.write(self._due.pop(0)[0], at)

    def write(self, prefix: str, at: float) -> None:
        """Write the graph at this instant; at the end, also the other two formats."""
        stamp = f"{datetime.fromtimestamp(self._shift.shows(at), UTC):%Y-%m-%dT%H-%M-%S.%f}"
        states = list(self._objects.current.values())
        graph = build_recorded_graph(states)
        parts = {
            "nodes": graph.nodes,
            "edges": graph.edges,
            "graph": {"nodes": graph.nodes, "edges": graph.edges},
            "events": list_graph_events(self._events, self._shift, at),
        }
        for part, document in parts.items():
            _write_json(self._folder / f"{prefix}{part}__{stamp}.json", document)
        if prefix == "end__":
            app = self._runbook.app
            _write_json(self._folder / "operational_graph.json", build_operational_graph(states, app))
            _write_json(self._folder / "app_graph.json", build_app_graph(app))


def _write_alerts(folder: Path, recording: Recording, names: NameMap, shift: TimeShift) -> None:
    runbook, span = recording.runbook, (recording.start, recording.handover)
    values = alerts.measure_values(
        recording.metrics, recording.history, runbook.rules, recording.alerted or runbook.everywhere, recording.start
    )
    views = alerts.AlertViews(names, shift)
    for firing in alerts.list_firing_alerts(recording.history, runbook.rules, values, span, views):
        stamp = f"{datetime.fromtimestamp(shift.shows(firing.at), UTC):%Y-%m-%dT%H-%M-%S.%f}"
        _write_json(folder / "alerts" / f"alerts_at_{stamp}.json", firing.alerts)
    last = (recording.handover, recording.handover)
    for firing in alerts.list_firing_alerts(recording.history, runbook.rules, values, last, views):
        at = datetime.fromtimestamp(shift.shows(firing.at), UTC)
        document = {"status": "success", "data": {"alerts": firing.alerts}, "timestamp": f"{at:%Y-%m-%dT%H:%M:%S.%f}Z"}
        _write_json(folder / "alerts" / f"alerts_in_alerting_state_{at:%Y-%m-%dT%H%M%S.%f}Z.json", document)


def _write_metrics(
    folder: Path, recording: Recording, settings: SnapshotSettings, names: NameMap, shift: TimeShift
) -> None:
    runbook, span = recording.runbook, metrics.SeriesWindow(recording.start, recording.handover)
    unrecorded = {c.name for c in runbook.app.components if c.role in metrics.UNRECORDED}
    step = float(settings.metric_seconds)
    for pod in _list_values(recording, "pod", span):
        chosen = metrics.select_all(runbook.everywhere, "pod", pod)
        series = _sort_shown(list(recording.store(metrics.read_series(recording.metrics, chosen, span, step))), names)
        rows = metrics.list_pod_rows(series, names, shift)
        write_series(folder, "metrics_pod", names.find(pod), rows, settings)
    for service in _list_values(recording, "service_name", span):
        if service not in unrecorded:
            chosen = metrics.select_all(runbook.everywhere, "service_name", service)
            series = list(recording.store(metrics.read_series(recording.metrics, chosen, span, step)))
            rows = metrics.list_service_rows(series, names, shift)
            write_series(folder, "metrics_service", service, rows, settings)


def _sort_shown(series: list[Any], names: NameMap) -> list[Any]:
    """Sort series by their canonical labels."""
    return sorted(series, key=lambda each: sorted(metrics.rename_labels(each.labels, names).items()))


def _list_values(recording: Recording, label: str, span: metrics.SeriesWindow) -> Iterator[str]:
    """List all values of a label in the app's series."""
    where = metrics.select_all(recording.runbook.everywhere, label)
    found = recording.metrics.range(f"count by ({label}) ({{{where}}})", span.start, span.end, float(GRID_SECONDS))
    yield from sorted({series.labels[label] for series in found})


def _build_manifest(
    folder: Path, name: str, recording: Recording, source: SnapshotSource, shift: TimeShift, digests: Mapping[str, str]
) -> Manifest:
    def show(at: float) -> Timestamp:
        return Timestamp(format_timestamp(shift.shows(at)))

    app = recording.runbook.app
    return Manifest(
        name=name,
        app=f"{app.name} {app.version}",
        clock="Virtual" if recording.virtual else "Wall",
        seed=recording.seed,
        times=SnapshotTimes(
            start=show(recording.start),
            injection=show(recording.injected) if recording.injected is not None else None,
            handover=show(recording.handover),
        ),
        digests={**source.digests, **digests},
        versions=source.versions,
        settings={
            "placement": "observed" if concerns_nodes(recording.runbook) or not recording.virtual else "drawn",
            **source.settings.describe(),
            **source.played,
        },
        files=list_files(folder),
    )


def _write_json(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=4) + "\n", encoding="utf-8")
