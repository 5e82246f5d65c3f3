"""Running a campaign on the fake cluster: a hand-made operator answers, and things go wrong around it."""

import pytest

from scenario_kit.campaign import MANAGEMENT_NAMESPACE, PlannedTrial, conclude, run
from scenario_kit.campaign.run import KEPT_LABEL
from scenario_kit.model import App, Reference, Runbook, Step, Verdict, Windows
from scenario_kit.model.scenario import Expect, GroundTruth
from scenario_kit.testing import FakeCluster
from scenario_kit.trial import TrialStatus

STEPS = (Step(kind="deploy"), Step(kind="teardown"))
PLANNED = [PlannedTrial(purpose=p, describe=p, steps=STEPS, seed=i) for i, p in enumerate(("repeat-1", "control"))]
WINDOWS = Windows(quiet=1, hold=1, still_firing=1, clear=1, resolve=1)


def runbook(namespace):
    app = App(name="shop", version="1", namespace="shop", entry="web", components=())
    return Runbook(
        scenario="s", digest="d", app=app, namespace=namespace, users=1, objects=(), rules=(), windows=WINDOWS,
        faults=(), expect=Expect(), ground_truth=GroundTruth(),
    )  # fmt: skip


class Operator:
    """Called as the campaign's pause: gives every trial that has none the outcome of its purpose."""

    def __init__(self, cluster, outcomes=None, silent=False):
        self.cluster, self.outcomes, self.silent = cluster, outcomes or {}, silent
        self.pauses, self.most = 0, 0

    def trials(self):
        return self.cluster.list("Trial", MANAGEMENT_NAMESPACE, group="scenariokit.io")

    def __call__(self, seconds):
        self.pauses += 1
        open_ = [t for t in self.trials() if not (t.get("status") or {}).get("outcome")]
        self.most = max(self.most, len(open_))
        for trial in self.trials() if not self.silent else ():
            purpose = "control" if "control" in trial["metadata"]["name"] else "repeat"
            status = TrialStatus(outcome=self.outcomes.get(purpose, "Held"), started_at=0.0)
            ref = Reference("Trial", trial["metadata"]["name"], MANAGEMENT_NAMESPACE, "scenariokit.io")
            self.cluster.patch(
                ref, [{"op": "add", "path": "/status", "value": status.to_json()}], "Json", subresource="status"
            )


@pytest.fixture
def cluster():
    cluster = FakeCluster()
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MANAGEMENT_NAMESPACE}})
    return cluster


def campaign(cluster, operator, *, parallel=2, keep=False, health=list):
    return run(
        PLANNED, runbook, cluster, plan="quick", app="shop", scenario="s", digest="d", parallel=parallel,
        health=health, progress=lambda *_: None, keep=keep, pause=operator,
    )  # fmt: skip


def test_results_come_in_the_order_of_the_plan_and_nothing_stays(cluster):
    operator = Operator(cluster)
    results = campaign(cluster, operator)
    assert [(r.purpose, r.outcome) for r in results] == [("repeat-1", "Held"), ("control", "Held")]
    assert operator.trials() == []


def test_no_more_than_asked_for_run_at_once(cluster):
    operator = Operator(cluster)
    campaign(cluster, operator, parallel=1)
    assert operator.most == 1


def test_a_sick_lab_ends_a_trial_as_infrastructure(cluster):
    results = campaign(cluster, Operator(cluster, silent=True), health=lambda: ["prometheus is gone"])
    assert {r.outcome for r in results} == {"Infra"}
    assert "prometheus is gone" in results[0].message
    assert conclude("s", "", "d", "quick", results, [], 1.0).verdict == Verdict.NOT_EVALUATED


def test_kept_evidence_makes_way_for_a_new_run(cluster):
    campaign(cluster, Operator(cluster), keep=True)
    kept = cluster.list("Trial", MANAGEMENT_NAMESPACE, group="scenariokit.io")
    assert len(kept) == 2
    assert all(KEPT_LABEL in t["metadata"]["labels"] for t in kept)
    results = campaign(cluster, Operator(cluster, {"repeat": "Broken"}), keep=True)
    assert [r.outcome for r in results] == ["Broken", "Held"]


def test_an_interrupted_campaign_finds_its_trials_again(cluster):
    class Interrupted(Exception):
        pass

    operator = Operator(cluster, {"repeat": "Broken"})

    def interrupt(seconds):
        operator(seconds)
        raise Interrupted

    with pytest.raises(Interrupted):
        campaign(cluster, interrupt)
    left = {t["metadata"]["uid"] for t in operator.trials()}
    assert len(left) == 2
    results = campaign(cluster, Operator(cluster, silent=True))
    assert [r.outcome for r in results] == ["Broken", "Held"], "their outcomes count, nothing is run again"


@pytest.mark.parametrize(
    ("outcomes", "verdict", "code"),
    [
        ({}, Verdict.PASS, 0),
        ({"control": "Broken"}, Verdict.FAIL, 1),
        ({"repeat": "Infra"}, Verdict.NOT_EVALUATED, 2),
        ({"repeat": "Infra", "control": "Broken"}, Verdict.FAIL, 1),
    ],
)
def test_the_verdict_follows_from_the_trials(cluster, outcomes, verdict, code):
    results = campaign(cluster, Operator(cluster, outcomes))
    validation = conclude("s", "", "d", "quick", results, [], 1.0)
    assert validation.verdict == verdict
    assert validation.verdict.exit_code == code
