"""Tests of the real node's parts that need neither root nor a container runtime."""

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml

from scenario_kit.campaign import plan_trials
from scenario_kit.catalog import Catalog
from scenario_kit.errors import LabError, UsageError
from scenario_kit.load import load_scenario
from scenario_kit.model import TrialStep
from scenario_kit.render import resolve
from tools.image.layout import verify_archive
from tools.realnode.evidence import list_commands, record_evidence
from tools.realnode.images import IMAGES, PARCELS, ProgramImage, build_images
from tools.realnode.node import isolation, requirements
from tools.realnode.node.chaos_mesh import MANIFEST
from tools.realnode.node.cluster import CONTEXT
from tools.realnode.node.installation import COLLECTION
from tools.realnode.node.kube_state import ClusterState
from tools.realnode.node.processes import RunningProcesses
from tools.realnode.run import SAMPLE, find_scenarios, leave_out_impossible
from tools.realnode.shards import SCENARIOS as SHARDED
from tools.realnode.shards import is_over
from tools.realnode.stopwatch import Stopwatch, format_stages
from tools.realnode.trials import PLAN, drop_decoys

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def collection(monkeypatch):
    monkeypatch.setenv("SCENARIO_KIT_CATALOG", str(COLLECTION))


def test_every_app_image_is_built():
    app = Catalog().app("parcels", "1.0")
    assert set(app.images) <= {image.name for image in IMAGES}


@pytest.mark.parametrize("file", find_scenarios(()), ids=lambda file: file.parent.name)
def test_program_without_decoys_is_valid(file):
    steps = plan_trials(PLAN, resolve(load_scenario(file).scenario, Catalog(), "app"), seed=1)[0].steps
    left = drop_decoys(steps)
    assert not [step for step in left if step.use == "Decoy" or step.kind == "expectStillFiring"]
    assert [step for step in steps if step in left] == list(left)
    assert {step.kind for step in left} >= {"deploy", "expectQuiet", "inject", "teardown", "expectClean"}


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([], False),
        ([("Suspended", "True")], False),
        ([("FailureTarget", "True"), ("Failed", "False")], False),
        ([("Complete", "True")], True),
        ([("SuccessCriteriaMet", "True"), ("Failed", "True")], True),
    ],
)
def test_job_is_over_when_completed_or_failed(conditions, expected):
    found = [{"type": type, "status": status} for type, status in conditions]
    assert is_over({"status": {"conditions": found}}) is expected
    assert not is_over(None)


def test_sharded_scenarios_are_in_the_catalogue():
    assert {path.parent.name for path in Catalog().scenarios()} >= set(SHARDED)


def test_dropped_decoy_drops_its_undo():
    kinds = ["hold", "change", "expectStillFiring", "undoChange", "change", "expectCleared"]
    uses = ["", "Decoy", "Decoy", "Decoy", "Solution", "Solution"]
    steps = [TrialStep(kind=kind, use=use, name="x") for kind, use in zip(kinds, uses, strict=True)]
    assert [step.kind for step in drop_decoys(steps)] == ["hold", "change", "expectCleared"]


def test_sample_scenario_exists_and_typo_is_reported():
    assert find_scenarios((SAMPLE,))[0].parent.name == SAMPLE
    with pytest.raises(UsageError, match="no scenario desk-without-intaek"):
        find_scenarios(("desk-without-intaek",))


def test_unchanged_image_is_not_rebuilt(tmp_path, monkeypatch):
    monkeypatch.setenv("SCENARIO_KIT_CACHE", str(tmp_path / "cache"))
    program = tmp_path / "program"
    program.write_bytes(b"a program")
    image = ProgramImage("registry.example/desk:1", PARCELS, ("desk",))
    (first,) = build_images([image], {PARCELS: program})
    assert verify_archive(first).name == "registry.example/desk:1"
    written = first.stat().st_mtime_ns
    (again,) = build_images([image], {PARCELS: program})
    assert (again, again.stat().st_mtime_ns) == (first, written)
    program.write_bytes(b"another")
    assert build_images([image], {PARCELS: program}) != [first]


def list_namespaces(state):
    return {dict(labels)["namespace"] for name, labels in state.collect() or {} if name == "kube_pod_info"}


def eventually(seen):
    end = time.monotonic() + 20
    while not (found := seen()) and time.monotonic() < end:
        threading.Event().wait(0.05)
    return found


class WatchedPods:
    """A cluster of pods with a change feed."""

    def __init__(self):
        self.events = queue.Queue()

    def tell(self, event, name, namespace):
        spec = {"containers": [{"name": name, "image": "x"}]}
        self.events.put((event, {"metadata": {"name": name, "namespace": namespace}, "spec": spec}))

    def watch(self, kind, *, stop):
        yield "SYNCED", {}
        while kind == "Pod" and not stop.is_set():
            with contextlib.suppress(queue.Empty):
                yield self.events.get(timeout=0.05)
        stop.wait()


def test_series_of_objects_follow_all_namespaces():
    cluster, stop = WatchedPods(), threading.Event()
    state = ClusterState(cluster)
    assert state.collect() is None
    state.start(stop)
    try:
        cluster.tell("ADDED", "desk", "one")
        cluster.tell("ADDED", "desk", "two")
        assert eventually(lambda: list_namespaces(state) == {"one", "two"})
        cluster.tell("DELETED", "desk", "two")
        assert eventually(lambda: list_namespaces(state) == {"one"})
    finally:
        stop.set()


def test_process_exit_error_includes_last_output(tmp_path):
    running = RunningProcesses(tmp_path)
    running.start("kubelet", [sys.executable, "-c", "print('no cgroups'); raise SystemExit(3)"])
    with pytest.raises(LabError, match=r"kubelet ended with code 3:\nno cgroups"):
        running.wait(lambda: False, 20, lambda: "never")


def test_wait_timeout_names_its_condition(tmp_path):
    with pytest.raises(LabError, match="the node is not ready"):
        RunningProcesses(tmp_path).wait(lambda: False, 0, lambda: "the node is not ready")


def test_failed_stages_are_not_recorded():
    now = iter([0.0, 4.0, 4.0])
    watch = Stopwatch(lambda _: None, lambda: next(now))
    with watch.measure("a build"):
        pass
    with pytest.raises(LabError), watch.measure("a start"):
        raise LabError("no")
    assert format_stages(watch.stages).splitlines()[2:] == ["| a build | 4 |"]


def test_chaos_mesh_manifest_has_names_expected_by_operator():
    found = {(obj["kind"], obj["metadata"]["name"]) for obj in yaml.safe_load_all(MANIFEST.read_text())}
    assert {("Deployment", "chaos-controller-manager"), ("DaemonSet", "chaos-daemon")} <= found


def test_leftovers_of_a_run_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(isolation, "find_pod_cgroups", list)
    folder, made, used = tmp_path / "run", tmp_path / "made", tmp_path / "used"
    for each in (folder, made, used):
        each.mkdir()
    (used / "file").write_text("")
    (folder / "absent.json").write_text(json.dumps([str(made), str(used), str(tmp_path / "gone")]))
    isolation.remove_leftovers(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["used"]
    isolation.remove_leftovers(folder)


def test_missing_root_is_reported(monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("shutil.which", lambda name: None if name == "runc" else name)
    problems = requirements.find_problems()
    assert "needs root" in problems[0]
    assert "runc" in problems[1]


@pytest.mark.parametrize(
    ("capabilities", "able"), [("000001ffffffffff", True), ("000001fffeffffff", False), ("0000000001000000", True)]
)
def test_lower_oom_score_needs_a_capability(tmp_path, capabilities, able):
    status = tmp_path / "status"
    status.write_text(f"Name:\tx\nCapEff:\t{capabilities}\n")
    assert requirements.can_lower_oom_score(status) is able


def test_scenario_whose_stressor_cannot_be_spared_is_left_out(monkeypatch):
    messages = []
    monkeypatch.setattr("tools.realnode.run.can_lower_oom_score", lambda: False)
    left = {file.parent.name for file in leave_out_impossible(find_scenarios(()), messages.append)}
    assert {file.parent.name for file in find_scenarios(())} - left == {"ledger-crowded-out"}
    assert "CAP_SYS_RESOURCE" in messages[0]
    monkeypatch.setattr("tools.realnode.run.can_lower_oom_score", lambda: True)
    assert leave_out_impossible(find_scenarios(()), messages.append) == find_scenarios(())


def test_check_starts_nothing():
    command = [sys.executable, str(ROOT / "ci" / "e2e"), "--real-node", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 2), done.stderr


def test_evidence_is_verified_on_the_node_by_the_plan_standard_and_recorded(tmp_path):
    file = find_scenarios([SAMPLE])[0]
    verify, report = list_commands(file, tmp_path, 8)
    assert verify[:4] == ["verify", str(file), "--plan", "standard"]
    assert verify[4:] == ["--cluster", "current", "--context", CONTEXT, "--parallel", "8", "--runs", str(tmp_path)]
    assert report == ["report", str(tmp_path / SAMPLE), "--record"]


def test_evidence_of_a_failed_scenario_is_not_recorded_and_others_are(tmp_path, monkeypatch):
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ncase "$*" in *verify*ledger*) exit 1;; esac\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    heard: list[str] = []
    files = find_scenarios(["ledger-asleep", SAMPLE])
    assert not record_evidence(files, tmp_path / "evidence", 8, heard.append)
    calls = [line.split()[2:4] for line in (tmp_path / "calls").read_text().splitlines()]
    assert [call[0] for call in calls] == ["verify", "verify", "report"]
    assert any("ledger-asleep: scenario-kit verify ended with 1" in text for text in heard)
    assert any(f"{SAMPLE}: recorded" in text for text in heard)
