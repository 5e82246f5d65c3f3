"""Damage after a repair that no alert reports."""

import msgspec
import pytest

from scenario_kit.model import Component, Reference, TrialStep
from scenario_kit.testing import FakeMetrics
from scenario_kit.trial.resolution.degradation import check_degradation
from tests.trial.test_alert_steps import Trial, codes, fault

REPAIRED = 1500.0
SOLVED = TrialStep(kind="expectCleared", use="Solution", name="s")
LABELS = TrialStep(kind="expectCleared", use="Fix", name="a:0")


def build_trial(failing, *others):
    """Build a trial, injected at 1000 s, whose component fails all requests in these spans."""
    trial = Trial(fault("a"), *others)
    context = trial.context
    web = Component(name="web", workload=Reference("Deployment", "web"))
    context.runbook = msgspec.structs.replace(
        context.runbook, app=msgspec.structs.replace(context.runbook.app, components=(web,))
    )

    def count(at):
        status = "ERROR" if any(start <= at < end for start, end in failing(context)) else "UNSET"
        return [({"service_name": "web", "status_code": f"STATUS_CODE_{status}"}, 600.0)]

    context.metrics = FakeMetrics.matching({"calls_total": count})
    context.wait(REPAIRED)
    return context


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        ([], False),
        ([(1100.0, 1400.0)], False),
        ([(1100.0, 1520.0)], False),
        ([(1100.0, 3000.0)], False),
        ([(1100.0, 9000.0)], True),
        ([(0.0, 9000.0)], False),
    ],
    ids=["as before", "during the incident", "a little longer", "recovers", "lasts", "from the start"],
)
def test_lasting_degradation_is_reported(failing, expected):
    found = check_degradation(build_trial(lambda _: failing), SOLVED)
    assert codes(found) == ["SK411"] * expected
    for finding in found:
        assert finding.message == "solution 's' leaves Deployment/web degraded, although no alert fires"
        assert finding.observed == "errors 0.0% → 100.0%"


def test_degradation_after_repair_of_labels_is_a_missing_label():
    (found,) = check_degradation(build_trial(lambda _: [(1100.0, 9000.0)]), LABELS)
    assert found.code == "SK401"
    assert "repairing only the labelled causes (a:0) leaves Deployment/web degraded" in found.message


def test_degradation_by_a_distractor_needs_no_repair():
    def failing(context):
        return [(1100.0, 9000.0)] if context.engine.list_active("Fault/b") else []

    assert check_degradation(build_trial(failing, fault("b", role="Distractor")), LABELS) == []
    assert codes(check_degradation(build_trial(failing, fault("b")), LABELS)) == ["SK401"]


@pytest.mark.parametrize(("join", "expected"), [("Conjunctive", []), ("Independent", ["SK401"])])
def test_degradation_by_a_conjunctive_cause_needs_no_repair(join, expected):
    def failing(context):
        return [(1100.0, 9000.0)] if context.engine.list_active("Fault/b") else []

    context = build_trial(failing, fault("b"))
    truth = msgspec.structs.replace(context.runbook.ground_truth, causes_join=join)
    context.runbook = msgspec.structs.replace(context.runbook, ground_truth=truth)
    assert codes(check_degradation(context, LABELS)) == expected


def test_app_without_a_fault_is_not_compared():
    trial = Trial()
    assert check_degradation(trial.context, SOLVED) == []
    assert trial.context.metrics.queries == []
