"""Running a campaign on the fake cluster: a hand-made operator answers, and things go wrong around it."""

import pytest

from scenario_kit.campaign import (
    MANAGEMENT_NAMESPACE,
    QUICK,
    STANDARD,
    Campaign,
    PlannedTrial,
    Polling,
    ValidationSubject,
    conclude,
    get_plan,
    run,
)
from scenario_kit.campaign.planning.plans import repeat
from scenario_kit.campaign.trial_store import KEPT_LABEL
from scenario_kit.errors import Unreachable
from scenario_kit.model import App, Reference, Runbook, TrialStep, Verdict, Windows
from scenario_kit.model.authored.scenario import Expect, GroundTruth
from scenario_kit.testing import FakeCluster
from scenario_kit.trial import TrialStatus

STEPS = (TrialStep(kind="deploy"), TrialStep(kind="teardown"))
PLANNED = [PlannedTrial(purpose=p, describe=p, steps=STEPS, seed=i) for i, p in enumerate(("repeat-1", "control"))]
PLACE = (MANAGEMENT_NAMESPACE, "scenariokit.io")
WINDOWS = Windows(quiet=1, hold=1, still_firing=1, clear=1, resolve=1)


def runbook(namespace, load_percent=100):
    app = App(name="shop", version="1", namespace="shop", entry="web", components=())
    return Runbook(
        scenario="s", digest="d", app=app, namespace=namespace, users=1, objects=(), rules=(), windows=WINDOWS,
        faults=(), expect=Expect(), ground_truth=GroundTruth(),
    )  # fmt: skip


STANDARD_TRIALS = [
    *(PlannedTrial(purpose=f"repeat-{n}", describe="r", steps=STEPS, seed=n) for n in range(1, 6)),
    PlannedTrial(purpose="control", describe="c", steps=STEPS, seed=100),
]


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
            outcome = self.outcomes.get(purpose, "Held")
            if not isinstance(outcome, str):
                key = next(k for k in outcome if f"-{k}-" in f"-{trial['metadata']['name']}-" or k == "")
                outcome = outcome[key]
            status = TrialStatus(outcome=outcome, started_at=0.0)
            ref = Reference("Trial", trial["metadata"]["name"], MANAGEMENT_NAMESPACE, "scenariokit.io")
            self.cluster.patch(
                ref, [{"op": "add", "path": "/status", "value": status.to_json()}], "Json", subresource="status"
            )


@pytest.fixture
def cluster():
    cluster = FakeCluster()
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MANAGEMENT_NAMESPACE}})
    return cluster


def campaign(
    cluster, pause, *, parallel=2, keep=False, health=list, plan=QUICK, planned=PLANNED, render=runbook,
    progress=lambda *_: None, **polling,
):  # fmt: skip
    return run(
        planned, Campaign(cluster, plan, "s", "d", "shop", render, keep=keep), parallel=parallel,
        health=health, progress=progress, polling=Polling(pause, **polling),
    )  # fmt: skip


def test_results_are_in_plan_order_and_trials_removed(cluster):
    operator = Operator(cluster)
    results = campaign(cluster, operator)
    assert [(r.purpose, r.outcome) for r in results] == [("repeat-1", "Held"), ("control", "Held")]
    assert operator.trials() == []


def test_parallelism_is_limited(cluster):
    operator = Operator(cluster)
    campaign(cluster, operator, parallel=1)
    assert operator.most == 1


def test_unhealthy_lab_ends_trial_as_infra(cluster):
    results = campaign(cluster, Operator(cluster, silent=True), health=lambda: ["prometheus is gone"])
    assert {r.outcome for r in results} == {"Infra"}
    assert "prometheus is gone" in results[0].message
    assert (
        conclude(ValidationSubject("s", "", "d", get_plan("quick")), results, [], 1.0).verdict == Verdict.NOT_EVALUATED
    )


def test_kept_trials_are_replaced_by_a_new_run(cluster):
    campaign(cluster, Operator(cluster), keep=True)
    kept = cluster.list("Trial", MANAGEMENT_NAMESPACE, group="scenariokit.io")
    assert len(kept) == 2
    assert all(t["metadata"]["labels"][KEPT_LABEL] == "true" for t in kept)
    results = campaign(cluster, Operator(cluster, {"repeat": "Broken"}), keep=True)
    assert [r.outcome for r in results] == ["Broken", "Held"]


def test_interrupted_campaign_resumes_its_trials(cluster):
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
def test_verdict_follows_from_the_trials(cluster, outcomes, verdict, code):
    results = campaign(cluster, Operator(cluster, outcomes))
    validation = conclude(ValidationSubject("s", "", "d", get_plan("quick")), results, [], 1.0)
    assert validation.verdict == verdict
    assert validation.verdict.exit_code == code


@pytest.mark.parametrize(
    ("repeats", "ended", "verdict"),
    [
        ({"": "Held"}, 5, Verdict.PASS),
        ({"repeat-3": "Broken", "": "Held"}, 10, Verdict.PASS),
        ({"repeat-3": "Broken", "repeat-8": "Broken", "": "Held"}, 10, Verdict.INCONCLUSIVE),
        ({"": "Broken"}, 2, Verdict.FAIL),
        ({"repeat-2": "Infra", "": "Held"}, 6, Verdict.PASS),
        ({"": "Infra"}, 5, Verdict.NOT_EVALUATED),
    ],
)
def test_second_five_repeats_run_only_if_needed(cluster, repeats, ended, verdict):
    operator = Operator(cluster, {"repeat": repeats})
    results = campaign(cluster, operator, plan=STANDARD, planned=STANDARD_TRIALS)
    assert sum(r.purpose.startswith("repeat") for r in results) == ended
    assert conclude(ValidationSubject("s", "", "d", get_plan("standard")), results, [], 1.0).verdict == verdict
    assert operator.trials() == []


def test_infra_trial_is_repeated_once_unless_still_broken(cluster):
    outcomes = {"control": {"control-again": "Held", "": "Infra"}}
    results = campaign(cluster, Operator(cluster, outcomes))
    assert [(r.purpose, r.outcome) for r in results][1:] == [("control", "Infra"), ("control-again", "Held")]
    assert conclude(ValidationSubject("s", "", "d", get_plan("quick")), results, [], 1.0).verdict == Verdict.PASS
    results = campaign(cluster, Operator(cluster, outcomes), health=lambda: ["prometheus is gone"])
    assert "control-again" not in {r.purpose for r in results}


def test_repeats_are_rendered_with_their_load(cluster):
    requests = []

    def rendered(namespace, load_percent):
        requests.append(load_percent)
        return runbook(namespace)

    planned = [repeat(STANDARD_TRIALS[0], n) for n in range(1, 6)]
    campaign(cluster, Operator(cluster), plan=STANDARD, planned=planned, render=rendered)
    assert requests[0] == 100
    assert min(requests) == 80
    assert max(requests) == 120


class Broken:
    """A cluster whose API server does not answer the calls with certain numbers."""

    def __init__(self, cluster, silent):
        self._cluster, self._silent, self.calls = cluster, silent, 0

    def __getattr__(self, name):
        call = getattr(self._cluster, name)

        def guarded(*given, **more):
            self.calls += 1
            if self._silent(self.calls):
                raise Unreachable(f"{name}: no answer")
            return call(*given, **more)

        return guarded


class Ticking:
    """A wall clock that advances by a second per reading."""

    now = 0.0

    def __call__(self):
        self.now += 1
        return self.now


@pytest.mark.parametrize("first", range(1, 12))
def test_brief_api_server_outage_has_no_effect(cluster, first):
    flaky = Broken(cluster, lambda call: first <= call < first + 4)
    results = campaign(flaky, Operator(cluster))
    assert [(r.purpose, r.outcome) for r in results] == [("repeat-1", "Held"), ("control", "Held")]


@pytest.mark.parametrize("first", range(1, 10))
def test_lasting_api_server_outage_blames_no_scenario(cluster, first):
    gone = Broken(cluster, lambda call: call >= first)
    results = campaign(gone, Operator(cluster, silent=True), clock=Ticking())
    assert {r.outcome for r in results} == {"Infra"}
    assert (
        conclude(ValidationSubject("s", "", "d", get_plan("quick")), results, [], 1.0).verdict == Verdict.NOT_EVALUATED
    )


def test_dead_component_is_looked_up_after_first_failure(cluster):
    """A request may take a minute to fail, so health is checked after the first failure only."""
    gone = Broken(cluster, lambda call: call >= 30)
    results = campaign(
        gone, Operator(cluster, silent=True), health=lambda: ["etcd is gone"] if gone.calls >= 30 else []
    )
    assert {(r.outcome, r.message) for r in results} == {("Infra", "etcd is gone")}
    assert gone.calls == 31, "one look, and one try to tidy up"


@pytest.mark.parametrize("after", range(8))
def test_dead_lab_never_passes_unseen_trials(cluster, after):
    operator = Operator(cluster)
    results = campaign(
        cluster, operator, parallel=1, health=lambda: ["etcd is gone"] if operator.pauses >= after else []
    )
    answer = conclude(ValidationSubject("s", "", "d", get_plan("quick")), results, [], 1.0).verdict
    assert {r.purpose for r in results} == {"repeat-1", "control"}
    assert answer == (Verdict.PASS if {r.outcome for r in results} == {"Held"} else Verdict.NOT_EVALUATED)


def test_deleted_trial_is_recreated(cluster):
    operator = Operator(cluster, silent=True)

    def meddle(seconds):
        if operator.pauses == 1:
            cluster.delete(Reference("Trial", operator.trials()[0]["metadata"]["name"], *PLACE))
        operator.silent = operator.pauses < 3
        operator(seconds)

    assert {r.outcome for r in campaign(cluster, meddle)} == {"Held"}


def test_stalled_trial_is_infra(cluster):
    results = campaign(cluster, Operator(cluster, silent=True), clock=Ticking())
    assert {r.outcome for r in results} == {"Infra"}
    assert "the operator is not running" in results[0].message


def test_watchers_get_every_trial_change(cluster):
    reported = []
    campaign(
        cluster, Operator(cluster),
        progress=lambda planned, name, status: reported.append((planned.purpose, name, status.outcome)),
    )  # fmt: skip
    assert [(purpose, outcome) for purpose, _, outcome in reported] == [("repeat-1", "Held"), ("control", "Held")]
    assert [name.startswith(f"s-{purpose}-") for purpose, name, _ in reported] == [True, True]
