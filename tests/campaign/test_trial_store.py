"""Trial objects of a campaign in the cluster: creation, and results of ended trials."""

import json

import msgspec
import pytest

from scenario_kit.campaign.planning.plans import QUICK, STANDARD, PlannedTrial
from scenario_kit.campaign.trial_store import (
    KEPT_LABEL,
    Campaign,
    TrialEvidence,
    measure_duration,
    read_evidence,
    read_status,
)
from scenario_kit.campaign.trial_store import (
    is_stale as stale,
)
from scenario_kit.model import AlertHistory, Reference, TrialSpec, TrialStep
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.results.trial import CAMPAIGN_LABEL, PURPOSE_LABEL, make_trial_reference
from scenario_kit.model.runtime.observation import Passage, Work
from scenario_kit.model.twin import Assumption
from scenario_kit.testing import FakeCluster
from scenario_kit.trial import TrialStatus
from tests.lab.twin import tiny

PLANNED = PlannedTrial(
    purpose="repeat-2",
    describe="twice",
    steps=(TrialStep(kind="deploy"), TrialStep(kind="teardown")),
    seed=9,
    load_percent=80,
    variation=1,
)
WORK = Work(seconds=1.0, requests=2.0)
DOCUMENT = {
    "history": AlertHistory(start=1.0, end=2.0).to_json(),
    "injectedAt": 1.5,
    "signs": ["event x", "log y"],
    "passages": [Passage(entity=Reference("Deployment", "a"), before=WORK, during=WORK).to_json()],
    "placement": {"Deployment/a": ["n0", "n1"]},
}


@pytest.fixture
def cluster():
    cluster = FakeCluster()
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MANAGEMENT_NAMESPACE}})
    return cluster


def store(cluster, document, name="left"):
    metadata = {"name": name, "namespace": MANAGEMENT_NAMESPACE}
    cluster.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"document": json.dumps(document)}}
    )


@pytest.fixture
def book(fault, runbook_of):
    found = runbook_of(fault("a"))
    twin = msgspec.structs.replace(
        tiny.DEFINITION, assumptions={"hop": Assumption(value=2.0, low=1.0, high=3.0, why="a guess")}
    )
    return msgspec.structs.replace(found, app=msgspec.structs.replace(found.app, twin=twin))


def build_campaign(cluster, book, requests=None, **more):
    def resolve(namespace, load):
        if requests is not None:
            requests.append((namespace, load))
        return msgspec.structs.replace(book, namespace=namespace, users=load)

    made = {"plan": STANDARD, "scenario": "s", "digest": "d", "app": "shop", "resolve": resolve} | more
    return Campaign(cluster, **made)


def test_created_trial_is_self_contained(cluster, book):
    requests = []
    campaign = build_campaign(cluster, book, requests, labels={"mine": "yes"})
    campaign.begin(PLANNED)
    made = cluster.get(make_trial_reference(campaign.name(PLANNED)))
    ((namespace, load),) = requests
    assert (namespace[:5], len(namespace), load) == ("shop-", 9, 80)
    assert made["metadata"]["namespace"] == MANAGEMENT_NAMESPACE
    labels = made["metadata"]["labels"]
    assert (labels[CAMPAIGN_LABEL], labels[PURPOSE_LABEL], labels["mine"]) == ("s", "repeat-2", "yes")
    assert made["metadata"]["name"] in labels.values()
    spec = made["spec"]
    assert (spec["plan"], spec["seed"], spec["namespace"], spec.get("clock", "Virtual")) == (
        "standard",
        9,
        namespace,
        "Virtual",
    )
    assert campaign.find(PLANNED) == made


@pytest.mark.parametrize(
    ("more", "varied"),
    [({}, 3.0), ({"clock": "Wall"}, 2.0), ({"plan": msgspec.structs.replace(STANDARD, assumptions=False)}, 2.0)],
)
def test_assumptions_vary_by_plan_in_virtual_time(cluster, book, more, varied):
    campaign = build_campaign(cluster, book, **more)
    campaign.begin(PLANNED)
    made = campaign.find(PLANNED)
    spec = TrialSpec.from_json(made["spec"])
    assert spec.runbook().app.twin.assumptions["hop"].value == varied
    assert spec.clock == more.get("clock", "Virtual")


def test_concurrently_created_trial_is_adopted(cluster, book):
    campaign = build_campaign(cluster, book)
    campaign.begin(PLANNED)
    first = campaign.find(PLANNED)
    campaign.begin(PLANNED)
    assert campaign.find(PLANNED) == first
    campaign.remove(PLANNED)
    assert campaign.find(PLANNED) is None


def test_names_are_of_the_plan_unless_the_campaign_has_an_identity(cluster, book):
    names = {
        build_campaign(cluster, book, **more).name(PLANNED)
        for more in ({}, {"plan": QUICK}, {"identity": "standard"}, {"identity": "x"}, {"digest": "e"})
    }
    assert len(names) == 4
    assert build_campaign(cluster, book).name(PLANNED) == build_campaign(cluster, book, identity="standard").name(
        PLANNED
    )


STATUS = {
    "outcome": "Held",
    "evidence": "left",
    "startedAt": 3.0,
    "conditions": [
        {"type": "Ready", "status": "True", "reason": "r", "lastTransitionTime": "2026-11-25T10:09:00Z"},
        {"type": "Succeeded", "status": "True", "reason": "r", "lastTransitionTime": "2026-11-25T10:01:30Z"},
    ],
}


def end_trial(campaign, **status):
    campaign.begin(PLANNED)
    trial = campaign.find(PLANNED)
    trial["metadata"]["creationTimestamp"] = "2026-11-25T10:00:00Z"
    return {**trial, "status": {**STATUS, **status}}


def test_trial_result_includes_evidence(cluster, book):
    store(cluster, DOCUMENT)
    campaign = build_campaign(cluster, book)
    found = campaign.result(PLANNED, end_trial(campaign))
    assert (found.name, found.purpose, found.describe, found.seed) == (campaign.name(PLANNED), "repeat-2", "twice", 9)
    assert (found.outcome, found.wall_seconds, found.started_at, found.injected_at) == ("Held", 90.0, 3.0, 1.5)
    assert (found.signs, found.placement) == (("event x", "log y"), {"Deployment/a": ("n0", "n1")})
    assert [p.entity for p in found.passages] == ["Deployment/a"]
    assert found.history == AlertHistory(start=1.0, end=2.0)
    assert found.assumed == {"hop": 3.0}
    steady = build_campaign(cluster, book, plan=msgspec.structs.replace(STANDARD, assumptions=False))
    assert steady.result(PLANNED, end_trial(steady)).assumed == {}


def test_unfinished_trial_is_infra(cluster, book):
    store(cluster, DOCUMENT)
    campaign = build_campaign(cluster, book)
    none = campaign.result(PLANNED, None, "it never began")
    assert (none.outcome, none.message, none.wall_seconds) == ("Infra", "it never began", 0.0)
    given_up = campaign.result(PLANNED, end_trial(campaign), "no progress")
    assert (given_up.outcome, given_up.message, given_up.history, given_up.signs) == ("Infra", "no progress", None, ())
    running = campaign.result(PLANNED, end_trial(campaign, outcome=""))
    assert (running.outcome, running.injected_at, running.started_at) == ("Infra", None, 3.0)


@pytest.mark.parametrize(
    ("name", "document", "found"),
    [
        ("left", DOCUMENT, TrialEvidence(
            AlertHistory(start=1.0, end=2.0), 1.5, ("event x", "log y"),
            (Passage(entity=Reference("Deployment", "a"), before=WORK, during=WORK),), {"Deployment/a": ("n0", "n1")},
        )),
        ("left", {"history": DOCUMENT["history"]}, TrialEvidence(AlertHistory(start=1.0, end=2.0), None, (), (), {})),
        ("gone", DOCUMENT, TrialEvidence()),
        ("", DOCUMENT, TrialEvidence()),
    ],
)  # fmt: skip
def test_evidence_is_read_from_the_named_config_map(cluster, name, document, found):
    store(cluster, document)
    assert read_evidence(cluster, TrialStatus(evidence=name)) == found


@pytest.mark.parametrize(
    ("outcome", "labels", "is_stale"),
    [
        ("Infra", None, True),
        ("Held", None, False),
        ("Held", {KEPT_LABEL: "true"}, True),
        ("Broken", {KEPT_LABEL: "true"}, True),
        ("", {KEPT_LABEL: "true"}, False),
        ("", None, False),
    ],
)
def test_stale_trials_are_replaced(outcome, labels, is_stale):
    assert stale({"metadata": {"name": "t", "labels": labels}, "status": {"outcome": outcome}}) is is_stale


def test_terminating_and_unseen_trials():
    assert not is_terminating({"metadata": {}})
    assert is_terminating({"metadata": {"deletionTimestamp": "now"}})
    assert read_status({"metadata": {}}) == TrialStatus()
    assert measure_duration({"metadata": {}}, TrialStatus()) == 0.0
