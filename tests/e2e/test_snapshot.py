"""Snapshots from the lab: reproducible, and readable by an independent reader and by the kit's own."""

import importlib.util
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scenario_kit.campaign import run as run_campaign
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli.validation.incident_player import IncidentPlayer, SnapshotOptions
from scenario_kit.cli.validation.recording_places import RecordedTrial
from scenario_kit.clients.jaeger import JaegerTraces
from scenario_kit.lab.lifecycle import list_worlds
from scenario_kit.lab.telemetry.prometheus_access import connect_metrics
from scenario_kit.lab.tracing.access import build_traces_path
from scenario_kit.load import load_scenario
from scenario_kit.model import TrialSpec
from scenario_kit.scoring.files.topologies import read_topology
from scenario_kit.scoring.files.truths import read_truths
from scenario_kit.snapshot import FIRST_DAY, SnapshotSettings, write_snapshot
from scenario_kit.snapshot.live.observer import ClusterObserver
from scenario_kit.snapshot.live.recorder import LiveRecorder
from scenario_kit.snapshot.reader import SnapshotFolder

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
from pages import ROOT, perform, session

READER = Path(__file__).resolve().parent.parent / "snapshot" / "itbench_reader.py"


def load_reader():
    found = importlib.util.spec_from_file_location("itbench_reader", READER)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def snapshots(lab_session, tmp_path_factory):
    """The same snapshot made twice, with few minutes; (folder, truth) each."""
    from scenario_kit.catalog import find_data_root
    from scenario_kit.cli import run

    scenario = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero"
    lab_session.heal()
    made = []
    for _ in range(2):
        out = tmp_path_factory.mktemp("snapshot")
        arguments = ["--name", lab_session.name, "--quiet-minutes", "2", "--hold-minutes", "1", "--out", str(out)]
        assert run(["snapshot", str(scenario), *arguments]) == 0
        (folder,) = out.glob("Scenario-*")
        made.append((folder, out / "truths" / folder.name))
    return made


def digests(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_equal_seeds_give_equal_bytes(snapshots):
    (one, truth), (other, other_truth) = snapshots
    for a, b in ((digests(one), digests(other)), (digests(truth), digests(other_truth))):
        assert a.keys() == b.keys()
        assert [path for path in a if a[path] != b[path]] == []


def test_independent_reader_reads_every_file(snapshots):
    reader, (folder, _) = load_reader(), snapshots[0]
    looks, state = reader.read_alerts(folder)
    assert looks[0][1] == []
    assert state
    events = reader.read_events(folder)
    assert {"Scheduled", "ScalingReplicaSet", "Started"} <= {e["reason"] for e in events}
    objects = reader.read_objects(folder)
    replicas = [
        o["spec"]["replicas"] for _, o in objects if (o["kind"], o["metadata"]["name"]) == ("Deployment", "cart")
    ]
    assert replicas[0] == 1
    assert replicas[-1] == 0
    assert any(row["SeverityText"] == "ERROR" for row in reader.read_logs(folder))
    spans = reader.read_spans(folder)
    assert {row["StatusCode"] for row in spans} == {"Unset", "Error"}
    metrics = reader.read_metrics(folder)
    assert {"frontend", "checkout"} <= {name for kind, name, _ in metrics if kind == "service"}
    assert not {"flagd", "load-generator"} & {name for kind, name, _ in metrics if kind == "service"}
    recorded, operational, _ = reader.read_topologies(folder)
    assert set(recorded) == {"init", "post_fault_injection", "end"}
    # One name for one thing, in every file.
    pods = {o["metadata"]["name"] for _, o in objects if o["kind"] == "Pod"}
    assert {name for kind, name, rows in metrics if kind == "pod"} == pods
    assert {reader.mapping(row["ResourceAttributes"])["k8s.pod.name"] for row in spans} <= pods
    assert {n["name"] for n in operational["nodes"] if n["kind"] == "Pod"} <= pods


def test_reader_verifies_snapshot_without_truth(snapshots):
    folder, truth = snapshots[0]
    snapshot = SnapshotFolder(folder)
    snapshot.verify()
    assert snapshot.manifest.times.start < snapshot.manifest.times.injection < snapshot.manifest.times.handover
    assert len(list(snapshot.read_alerts())) >= 5
    assert len(read_topology(folder / "topology_information").nodes) > 100
    assert len(read_topology(snapshot.find_topology()).nodes) > 50
    assert not list(folder.rglob("*truth*"))
    (loaded,) = read_truths(truth)
    assert [g.names for g in loaded.truth.groups if g.root] == [("cart",)]
    assert [g.namespace for g in loaded.truth.groups if g.root] == ["otel-demo"]
    assert json.loads((truth / "scenario_truth.json").read_text())["scenario"] == "cart-scaled-to-zero"


def test_solvers_run_on_snapshots(snapshots, tmp_path):
    """The documented command over a folder of snapshots, and PromQL over their series."""
    from scenario_kit.cli.solving.snapshot_services import SnapshotMetrics
    from scenario_kit.solver.offline.evidence import SnapshotEvidence

    folder, _ = snapshots[0]
    (command,) = [
        each.command for each in session((ROOT / "docs" / "solve.md").read_text()) if "--snap" in each.command
    ]
    runs = tmp_path / "solutions"
    message = perform([f"{command.replace('snapshots', str(folder.parent), 1)} --runs {runs}"], ROOT)
    assert "recall_gated_precision" in message
    blamed = {
        path.parts[-3]: [each["name"] for each in json.loads(path.read_text())["answer"]["entities"]]
        for path in runs.rglob("record.json")
    }
    cart = ["otel-demo/Deployment/cart"]
    assert (blamed["runbook"], blamed["oracle"]) == (cart, cart)
    assert len(blamed["recent-change"]) == 1, "between two lists of objects, noise changes every Deployment, too"
    calls = json.loads(next(runs.rglob("runbook/1/record.json")).read_text())["tool_calls"]
    assert all(call["ok"] for call in calls)
    evidence = SnapshotEvidence(SnapshotFolder(folder))
    metrics = SnapshotMetrics(evidence, tmp_path)
    try:
        series = metrics.instant('sum(container_memory_working_set_bytes{pod=~"frontend-.*"})', evidence.now)
        assert series[0].points[0][1] > 1e6
    finally:
        metrics.close()


class ForeignCluster:
    """Records a trial of the lab over its API server, Prometheus and Jaeger alone, as if the lab were another's.

    The trial is played in virtual time, for a wall clock would take minutes; only what time it is comes from the lab.
    """

    clock = "Virtual"

    def __init__(self, lab, folder):
        self.lab = lab
        self.file = folder / "ticks.jsonl"

    def record(self, planned, build, _sample):
        campaign = build(self.lab.cluster)
        times = [0.0]
        recorder = LiveRecorder(lambda: self.find(campaign, planned), self.file, lambda: times[-1])
        self.file.write_bytes(b"")

        def look():
            """Look as often as possible: minutes of the trial pass within a second."""
            while not ended.wait(0.02):
                worlds = {each["trial"]: each["now"] for each in list_worlds(self.lab.state)}
                if worlds.get(campaign.name(planned), 0.0) > times[-1]:
                    times.append(worlds[campaign.name(planned)])
                    recorder.look()

        ended = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            looking = pool.submit(look)
            try:
                problems = recorder.list_problems
                result = run_campaign([planned], campaign, parallel=1, health=problems, progress=lambda *_: None)[0]
            finally:
                ended.set()
            looking.result()
        recorder.stop()  # with a trial, the lab forgets its traces; those of the last two minutes are not read
        assert recorder.list_problems() == []
        return RecordedTrial(result, self.runbook.namespace, recorder.read_ticks, connect_metrics(self.lab.state))

    def find(self, campaign, planned):
        self.runbook = TrialSpec.from_json(campaign.find(planned)["spec"]).runbook()
        everywhere, state = self.runbook.everywhere, self.lab.state
        root = f"{state.server_url}{build_traces_path(state.server_token, everywhere[0])}/jaeger"
        return ClusterObserver(self.lab.cluster, everywhere, JaegerTraces(root, everywhere).read)

    def describe(self):
        return "", ""

    def close(self):
        """Leave everything to the fixtures."""


def test_what_a_cluster_shows_over_its_apis_makes_a_snapshot(lab, tmp_path):
    catalog, file = Catalog(), find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
    options = SnapshotOptions(tmp_path, 1, FIRST_DAY, SnapshotSettings(), quiet=2, hold=40)
    player = IncidentPlayer(load_scenario(file).scenario, file, catalog, options, ForeignCluster(lab, tmp_path))
    place = player.choose_place()
    manifest = write_snapshot(player.play(), player.describe_source(()), place)
    SnapshotFolder(place.folder).verify()
    assert manifest.times.injection

    reader = load_reader()
    looks, _ = reader.read_alerts(place.folder)
    assert looks[0][1] == []
    assert {a["labels"]["alertname"] for a in looks[-1][1]} >= {"HighRequestErrorRate"}
    assert {"ScalingReplicaSet", "Started"} <= {e["reason"] for e in reader.read_events(place.folder)}
    # In virtual time more than five minutes may pass between two looks, which ``read_objects`` rightly refuses.
    rows = reader.in_order(reader.table(place.folder / "k8s_objects_raw.tsv", reader.LOG_COLUMNS))
    objects = [json.loads(row["Body"]) for row in rows]
    assert not {"Secret", "Trial", "HTTPChaos"} & {o["kind"] for o in objects}
    carts = [o["spec"]["replicas"] for o in objects if (o["kind"], o["metadata"]["name"]) == ("Deployment", "cart")]
    assert carts[-1] == 0
    assert "frontend" in {row["ServiceName"] for row in reader.read_logs(place.folder)}
    assert "frontend" in {row["ServiceName"] for row in reader.read_spans(place.folder)}
    assert {"frontend", "checkout"} <= {name for _, name, _ in reader.read_metrics(place.folder)}
