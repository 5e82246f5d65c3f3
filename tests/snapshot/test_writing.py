"""Two runs of one seed differ in names, addresses, nodes, identifiers and wall times; their snapshots do not."""

import json
import sys
from pathlib import Path

import msgspec
import pytest

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.model.runtime.recording import RecordedLine
from scenario_kit.snapshot import Recording, SnapshotSettings
from scenario_kit.snapshot.reader import SnapshotFolder, parse_map
from tests.snapshot.recordings import START, play, write

sys.path.insert(0, str(Path(__file__).parent))
import itbench_reader


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_chance_and_the_clock_on_the_wall_leave_no_trace(tmp_path):
    """Another chance, and another epoch: the same bytes, and nothing of either in them."""
    one, run = play(1)
    other, _ = play(2, shift=5 * 86400.0)
    a, b = contents(write(one, tmp_path / "a")), contents(write(other, tmp_path / "b"))
    assert a.keys() == b.keys()
    assert [name for name in a if a[name] != b[name]] == []
    everything = b"".join(a.values()) + " ".join(a).encode()
    assert run.namespace.encode() not in everything
    assert b"2026" not in everything
    assert contents(tmp_path / "a" / "truths") == contents(tmp_path / "b" / "truths")


def test_independent_reader_reads_the_snapshot(tmp_path):
    folder = write(play(3)[0], tmp_path)
    looks, state = itbench_reader.read_alerts(folder)
    assert [len(alerts) for _, alerts in looks] == [0] * 6 + [1, 1]
    assert state[0]["activeAt"] == "2025-01-06T00:03:00.000000000Z"
    events = itbench_reader.read_events(folder)
    assert sorted(e["reason"] for e in events) == ["Started", "SuccessfulCreate", "SuccessfulDelete"]
    when = {e["reason"]: e["firstTimestamp"] for e in events}
    assert when == {
        "Started": "2025-01-06T00:00:04Z",
        "SuccessfulCreate": "2025-01-06T00:00:00Z",
        "SuccessfulDelete": "2025-01-06T00:02:00Z",
    }
    objects = itbench_reader.read_objects(folder)
    assert [o["spec"]["replicas"] for _, o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == "cart"][
        -1
    ] == 0
    names = {o["metadata"]["name"] for _, o in objects if o["kind"] == "Pod"}
    metrics = itbench_reader.read_metrics(folder)
    assert {name for kind, name, _ in metrics if kind == "pod"} == names
    assert len(next(rows for kind, _, rows in metrics if kind == "service")) == 29, "of calls, those that failed"
    assert len(itbench_reader.read_spans(folder)) == 56
    assert {row["ServiceName"] for row in itbench_reader.read_logs(folder)} == {"frontend"}
    itbench_reader.read_topologies(folder)
    itbench_reader.read_lite(folder)


def test_excluded_sources_are_absent(tmp_path):
    settings = SnapshotSettings(without=("traces", "metrics", "events", "logs"), lite=False)
    folder = write(play(4)[0], tmp_path, settings)
    assert {p.name for p in folder.iterdir()} == {
        "alerts",
        "k8s_objects_raw.tsv",
        "manifest.json",
        "topology_information",
    }
    snapshot = SnapshotFolder(folder)
    snapshot.verify()
    assert list(snapshot.read_logs()) == list(snapshot.read_spans()) == snapshot.list_metrics() == []
    assert snapshot.manifest.settings["without"] == ["traces", "metrics", "events", "logs"]


def test_fewer_samples_and_traces(tmp_path):
    folder = write(play(5)[0], tmp_path, SnapshotSettings(trace_share=0.0, metric_seconds=60))
    assert itbench_reader.read_spans(folder) == []
    rows = next(rows for kind, _, rows in itbench_reader.read_metrics(folder) if kind == "service")
    assert {row["timestamp"][17:] for row in rows} == {"00.000"}


def test_leaking_log_line_aborts_the_snapshot(tmp_path):
    recording, run = play(6)
    ticks = list(recording.read_ticks())
    leak = RecordedLine(run.namespace, "frontend", "frontend", START + 20, "now Cart_Scaled.to-zero, said somebody")
    ticks[3] = msgspec.structs.replace(ticks[3], lines=(*ticks[3].lines, leak))
    with pytest.raises(AuthoringError) as refused:
        write(Recording(**{**vars(recording), "read_ticks": lambda: ticks}), tmp_path)
    assert [f.code for f in refused.value.findings] == ["SK441"]
    assert "otel_logs_raw.tsv" in refused.value.findings[0].observed
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_failed_write_leaves_no_folder(tmp_path):
    """A failure leaves no folder, and an existing folder is not touched."""
    recording, _ = play(7)
    recording.metrics.down = True
    with pytest.raises(Exception, match="connection refused"):
        write(recording, tmp_path)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    recording.metrics.down = False
    before = contents(write(recording, tmp_path))
    with pytest.raises(UsageError, match="already exists"):
        write(recording, tmp_path)
    assert contents(tmp_path / "Scenario-1") == before


def test_verify_reports_changed_missing_and_added_files(tmp_path):
    folder = write(play(8)[0], tmp_path)
    SnapshotFolder(folder).verify()
    (folder / "otel_logs_raw.tsv").write_text("changed")
    (folder / "k8s_events_raw.tsv").unlink()
    (folder / "alerts" / "more.json").write_text("[]")
    with pytest.raises(AuthoringError) as refused:
        SnapshotFolder(folder).verify()
    messages = sorted(f.message for f in refused.value.findings)
    assert messages == [
        "k8s_events_raw.tsv is missing",
        "more.json is not in the manifest",
        "otel_logs_raw.tsv was changed",
    ]


def test_reader_accepts_foreign_layouts(tmp_path):
    """Other names of files and folders, no manifest, the envelope of the API."""
    raw = tmp_path / "observability_information_from_clickhouse" / "raw"
    (raw / "metrics_pod").mkdir(parents=True)
    (tmp_path / "alerts").mkdir()
    (raw / "metrics_pod" / "pod_a_raw.tsv").write_text("metric_name\ttags\ncpu\t{'pod': 'a'}\n")
    (raw / "k8s_events.tsv").write_text('Timestamp\tBody\n2025-01-06 00:00:01.500000000\t"{""a"": 1,\n""b"": 2}"\n')
    envelope = {"status": "success", "data": {"alerts": [{"labels": {}}]}}
    (tmp_path / "alerts" / "alerts_at_2025-01-06T00-01-00.000000.json").write_text(json.dumps(envelope))
    snapshot = SnapshotFolder(tmp_path)
    assert snapshot.manifest is None
    (row,) = snapshot.read_events()
    assert json.loads(row["Body"]) == {"a": 1, "b": 2}
    assert row.at == 1736121601.5
    (file,) = snapshot.list_metrics()
    assert (file.kind, file.name) == ("pod", "a")
    assert [parse_map(row["tags"]) for row in snapshot.read_metrics(file)] == [{"pod": "a"}]
    assert [len(look.alerts) for look in snapshot.read_alerts()] == [1]
    with pytest.raises(UsageError, match="cannot be verified"):
        snapshot.verify()


MANIFEST = {"name": "Scenario-1", "app": "shop 1", "clock": "Virtual", "seed": 1}


def test_broken_table_is_reported_with_its_position(tmp_path):
    (tmp_path / "alerts").mkdir()
    (tmp_path / "otel_logs_raw.tsv").write_text("Timestamp\tBody\na\tb\nonly one\n")
    with pytest.raises(AuthoringError, match=r"otel_logs_raw\.tsv:3: a row has 1 cells, expected 2"):
        list(SnapshotFolder(tmp_path).read_logs())
    (tmp_path / "otel_logs_raw.tsv").write_text("Timestamp\tBody\nyesterday\tb\n")
    (row,) = SnapshotFolder(tmp_path).read_logs()
    with pytest.raises(AuthoringError, match=r"otel_logs_raw\.tsv:2: 'yesterday' is not a timestamp"):
        _ = row.at
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST | {"times": {"start": "now", "handover": "later"}}))
    with pytest.raises(AuthoringError, match=r"is not a valid manifest: .*now.* - at `\$\.times\.start`"):
        SnapshotFolder(tmp_path)
    with pytest.raises(UsageError, match="is not a snapshot"):
        SnapshotFolder(tmp_path / "alerts")
