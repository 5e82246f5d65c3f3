"""The next action for a Scenario, and its conditions."""

import pytest

from operators.scenario.plan import (
    ATTEMPT_LABEL,
    CONDITIONS,
    CreateTrial,
    DesiredTrial,
    Refusal,
    Remove,
    ShowTrial,
    build_conditions,
    compute_restart,
    plan,
)
from scenario_kit.load.rules import build_finding
from scenario_kit.trial import TrialStatus


def trial(name, digest, deleted=False):
    metadata = {"name": name} | ({"deletionTimestamp": "now"} if deleted else {})
    return {"metadata": metadata, "spec": {"digest": digest}}


WANTED = DesiredTrial(digest="d1", suspended=False)


@pytest.mark.parametrize(
    ("desired", "trials", "action"),
    [
        (WANTED, [], CreateTrial("s-g3")),
        (WANTED, [trial("s-g1", "d1")], ShowTrial()),
        (WANTED, [trial("s-g1", "d0")], Remove("s-g1")),
        (WANTED, [trial("s-g1", "d0", deleted=True)], Remove("s-g1")),
        (WANTED, [trial("s-g1", "d1", deleted=True)], Remove("s-g1")),
        (DesiredTrial(digest="d1", suspended=True), [trial("s-g1", "d1")], Remove("s-g1")),
        (DesiredTrial(digest="d1", suspended=True), [], ShowTrial()),
        (None, [trial("s-g1", "d1")], Remove("s-g1")),
        (None, [], ShowTrial()),
    ],
    ids=[
        "new",
        "text edit",
        "causal edit",
        "old one going",
        "being deleted",
        "suspended",
        "stored",
        "refused edit",
        "refused",
    ],
)
def test_plan(desired, trials, action):
    assert plan("s", 3, desired, trials) == action


def find_condition(result, type):
    return next(c for c in result if c.type == type)


def test_all_conditions_appear_at_first_contact():
    result = build_conditions((), 1, None, WANTED, None)
    assert [c.type for c in result] == list(CONDITIONS)
    assert find_condition(result, "Ready").status == "Unknown"


def test_refusal_reason_is_in_accepted_and_ready():
    result = build_conditions((), 1, Refusal("UnknownFault", "no such fault"), None, None)
    assert (find_condition(result, "Accepted").status, find_condition(result, "Accepted").reason) == (
        "False",
        "UnknownFault",
    )
    assert find_condition(result, "Ready").reason == "UnknownFault"


def test_ready_follows_the_trial():
    status = TrialStatus()
    for type in ("AppReady", "BaselineQuiet", "FaultsInjected"):
        status = status.with_condition(type, "True", "Held", "")
    assert find_condition(build_conditions((), 1, None, WANTED, status), "Ready").reason == "WaitingForSymptoms"
    status = status.with_condition("SymptomsPresent", "True", "Held", "")
    assert find_condition(build_conditions((), 1, None, WANTED, status), "Ready").reason == "IncidentActive"
    status = status.with_condition("Resolved", "True", "Held", "")
    assert find_condition(build_conditions((), 1, None, WANTED, status), "Ready").reason == "IncidentResolved"


def test_broken_step_shows_in_the_summary():
    status = TrialStatus().with_condition("AppReady", "False", "SK301", "not available")
    ready = find_condition(build_conditions((), 1, None, WANTED, status), "Ready")
    assert (ready.status, ready.reason, ready.message) == ("False", "SK301", "not available")


def build_held_status(*conditions):
    status = TrialStatus(started_at=0.0)
    for each in conditions:
        status = status.with_condition(each, "True", "Held", "")
    return status


BROKEN = ("AppReady", "BaselineQuiet", "FaultsInjected", "SymptomsPresent")


@pytest.mark.parametrize(
    ("outcome", "reached", "reason", "symptoms", "resolved"),
    [
        ("Incident", BROKEN, "IncidentActive", "True", "Unknown"),
        ("Incident", (*BROKEN, "Resolved"), "IncidentResolved", "True", "True"),
        ("Benign", BROKEN, "BenignActive", "True", "Unknown"),
        ("Benign", (*BROKEN, "Resolved"), "BenignPassed", "True", "True"),
        ("NoIncident", BROKEN[:3], "NoIncident", "False", "False"),
        ("NoIncident", BROKEN[:2], "Injecting", "False", "False"),
    ],
)
def test_conditions_summarise_the_outcome(outcome, reached, reason, symptoms, resolved):
    desired = DesiredTrial(digest="d1", suspended=False, outcome=outcome)
    result = build_conditions((), 1, None, desired, build_held_status(*reached))
    assert find_condition(result, "Ready").reason == reason
    assert find_condition(result, "Ready").status == ("Unknown" if reason == "Injecting" else "True")
    assert (find_condition(result, "SymptomsPresent").status, find_condition(result, "Resolved").status) == (
        symptoms,
        resolved,
    )


OVER = 1_767_225_600.0  # 2026-01-01T00:00:00Z


def build_ended_status(outcome, attempt=1, codes=()):
    status = TrialStatus(outcome=outcome, findings=tuple(build_finding(c, message="m") for c in codes))
    condition = {"type": "Succeeded", "status": "False", "reason": "x", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    each = trial("s-g1", "d1")
    each["metadata"]["labels"] = {ATTEMPT_LABEL: str(attempt)}
    return each | {"status": status.to_json() | {"conditions": [condition]}}


@pytest.mark.parametrize(
    ("outcome", "attempt", "codes", "pause"),
    [
        ("", 1, (), None),
        ("Held", 1, (), None),
        ("Broken", 1, (), None),
        ("Infra", 1, (), 10),
        ("Infra", 2, (), 20),
        ("Infra", 5, (), 160),
        ("Infra", 6, (), 300),
        ("Infra", 60, (), 300),
        ("Infra", 1, ("SK911",), None),
        ("Infra", 1, ("SK901",), None),
        ("Infra", 1, ("SK303",), 10),
    ],
)
def test_infra_trial_restarts_after_delay(outcome, attempt, codes, pause):
    there = build_ended_status(outcome, attempt, codes)
    assert compute_restart(there) == (None if pause is None else OVER + pause)
    before = plan("s", 3, WANTED, [there], now=OVER + (pause or 0) - 1)
    assert before == ShowTrial(None if pause is None else OVER + pause)
    after = plan("s", 3, WANTED, [there], now=OVER + (pause or 10**6))
    assert after == (ShowTrial() if pause is None else Remove("s-g1"))


@pytest.mark.parametrize(("tried", "name"), [(0, "s-g3"), (1, "s-g3-2"), (7, "s-g3-8")])
def test_next_attempt_has_a_number(tried, name):
    assert plan("s", 3, WANTED, [], ended=tried) == CreateTrial(name, tried + 1)


def test_ready_message_has_the_restart_time():
    status = TrialStatus().with_condition("AppReady", "Unknown", "InfrastructureFailed", "no Prometheus")
    ready = find_condition(build_conditions((), 1, None, WANTED, status, OVER), "Ready")
    assert (ready.status, ready.reason) == ("Unknown", "InfrastructureFailed")
    assert ready.message == "no Prometheus; restarts at 2026-01-01T00:00:00Z"
