"""Trial objects that cannot start: their status, and removal on deletion."""

import base64
import gzip
import json
from types import SimpleNamespace

import pytest

from operators.access.trial_objects import read_trial
from operators.scenario.environment import Settings
from operators.scenario.trial_runner import TrialRun
from scenario_kit.changes import TRIAL_LABEL
from scenario_kit.clients.clock import WallClock
from scenario_kit.errors import AuthoringError, InfrastructureError
from scenario_kit.model import App, Reference, Runbook, TrialSpec, TrialStep, Windows
from scenario_kit.model.authored.scenario import API_VERSION, Expect, GroundTruth
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.testing import FakeCluster, FakeMetrics
from scenario_kit.trial import TrialStatus
from scenario_kit.trial.status import StepStatus
from tests.lab.twin import tiny

HERE = "scenario-kit"
REF = Reference("Trial", "t", HERE, GROUP)
STEPS = tuple(TrialStep(kind=k) for k in ("deploy", "expectQuiet", "teardown", "expectClean"))


def spec(twin):
    app = App(name="shop", version="1", namespace="shop", entry="web", components=(), twin=twin)
    runbook = Runbook(
        scenario="s", digest="d", app=app, namespace="shop", users=1, objects=(), rules=(), faults=(),
        windows=Windows(quiet=60, hold=60, still_firing=60, clear=60, resolve=600),
        expect=Expect(), ground_truth=GroundTruth(),
    )  # fmt: skip
    return TrialSpec(scenario="s", digest="d", namespace="shop", steps=STEPS, resolved=runbook.pack())


class NoWorlds:
    """TrialPlatform that cannot simulate the app."""

    closed = False

    def has_clock(self, trial):
        return False

    def open_clock(self, trial, spec):
        raise AuthoringError("app shop 1: components.web: no image", fix="correct twin.yaml")

    def close_clock(self, trial):
        self.closed = True

    def health(self, needs):
        return ()

    diagnose = health


@pytest.fixture
def platform():
    return NoWorlds()


@pytest.fixture
def environment(platform):
    cluster = FakeCluster()
    for name in (HERE, "shop"):
        cluster.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    metrics = FakeMetrics(lambda expr, at: [])
    return SimpleNamespace(cluster=cluster, solver=cluster, metrics=metrics, settings=Settings(), platform=platform)


def apply_trial(environment, twin, status=None):
    metadata = {"name": "t", "namespace": HERE}
    trial = {"apiVersion": API_VERSION, "kind": "Trial", "metadata": metadata, "spec": spec(twin).to_json()}
    environment.cluster.put({**trial, "status": status.to_json()} if status else trial)
    return TrialRun(environment, "t", lambda: False)


@pytest.mark.parametrize(("twin", "outcome", "code"), [(tiny.DEFINITION, "Broken", "SK138"), (None, "Infra", "SK911")])
def test_world_error_is_in_the_trial_status(environment, twin, outcome, code):
    apply_trial(environment, twin).execute()
    _, status = read_trial(environment.cluster.get(REF))
    assert (status.outcome, status.evidence) == (outcome, "")
    (finding,) = status.findings
    assert (finding.code, finding.message) == (code, "app shop 1: components.web: no image")
    ready = next(c for c in status.conditions if c.type == "AppReady")
    assert ready.message == finding.message
    assert ready.observed_generation == environment.cluster.get(REF)["metadata"]["generation"]


def test_trial_with_world_in_other_lab_waits(environment):
    begun = apply_trial(environment, tiny.DEFINITION, TrialStatus(started_at=15.0))
    with pytest.raises(AuthoringError):
        begun.execute()


def test_terminating_trial_is_not_run(environment, platform, monkeypatch):
    """Its records are gone, and nothing would remove what it writes after that."""
    run = apply_trial(environment, tiny.DEFINITION)
    trial = environment.cluster.get(REF)
    environment.cluster.put(trial | {"metadata": trial["metadata"] | {"deletionTimestamp": "2026-11-25T10:00:00Z"}})
    monkeypatch.setattr(platform, "open_clock", lambda trial, spec: pytest.fail("the world of a deleted trial"))
    run.execute()
    assert environment.cluster.list("ConfigMap", HERE, labels={TRIAL_LABEL: "t"}) == []


def build_run_of_other_version(environment, status=None):
    run = apply_trial(environment, None, status)
    body = json.loads(gzip.decompress(base64.b64decode(environment.cluster.get(REF)["spec"]["resolved"])))
    body["app"]["novelty"] = 1
    packed = base64.b64encode(gzip.compress(json.dumps(body).encode())).decode()
    environment.cluster.put({**environment.cluster.get(REF), "spec": {**spec(None).to_json(), "resolved": packed}})
    return run


def test_runbook_of_other_version_is_refused_with_reason(environment):
    run = build_run_of_other_version(environment)
    run.execute()
    _, status = read_trial(environment.cluster.get(REF))
    (finding,) = status.findings
    assert (status.outcome, finding.code) == ("Infra", "SK901")
    assert "another version of scenario-kit" in finding.message
    assert "novelty" in finding.message
    assert run.clean() == []


@pytest.mark.parametrize("call", ["execute", "clean"])
def test_trial_begun_by_other_version_is_not_continued(environment, call):
    run = build_run_of_other_version(environment, TrialStatus(started_at=15.0))
    with pytest.raises(InfrastructureError, match="another version of scenario-kit"):
        getattr(run, call)()


def test_deleted_trial_closes_its_platform(environment, platform):
    assert apply_trial(environment, tiny.DEFINITION).clean() == []
    assert platform.closed


@pytest.mark.parametrize(("proof", "again"), [("Held", False), ("Broken", True)])
def test_proven_clean_trial_is_not_checked_again(environment, platform, monkeypatch, proof, again):
    opened = []
    monkeypatch.setattr(platform, "open_clock", lambda trial, spec: opened.append(trial) or WallClock())
    outcomes = ["Held", "Held", "Held", proof]
    steps = tuple(
        StepStatus(index=i, step=str(step), outcome=outcome, started_at=0.0)
        for i, (step, outcome) in enumerate(zip(STEPS, outcomes, strict=True))
    )
    run = apply_trial(environment, tiny.DEFINITION, TrialStatus(started_at=0.0, steps=steps, outcome="Held"))
    metadata = {"name": "t-evidence", "namespace": HERE, "labels": {TRIAL_LABEL: "t"}}
    environment.cluster.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"document": "{}"}})
    assert run.clean() == []
    assert platform.closed
    assert environment.cluster.list("ConfigMap", HERE) == []
    assert bool(opened) is again
