"""Triggers and distractors are verified by omitting them from the incident."""

import msgspec
import pytest

from scenario_kit.model import AlertExpectation, Finding, Reference, Severity, TrialStep
from scenario_kit.trial.alerts.role_checks import check_roles, expect_alerts_without
from tests.trial.test_alert_steps import ALWAYS, INJECTED, Trial, codes, fault


@pytest.mark.parametrize(
    ("role", "firing", "expected"),
    [
        ("Trigger", ALWAYS, ["SK418"]),
        ("Trigger", {}, []),
        ("Distractor", ALWAYS, []),
        ("Distractor", {}, ["SK418"]),
    ],
    ids=["an idle trigger", "a trigger", "a distractor", "a distractor that sets it off"],
)
@pytest.mark.parametrize("after", ["", "b"])
def test_alerts_without_non_root_fault_are_judged(role, firing, expected, after):
    expectation = AlertExpectation(
        name="Errors", entity=Reference("Deployment", "web"), after=after, within_seconds=300
    )
    trial = Trial(fault("a"), alerts=(expectation,), firing=firing)
    trial.context.runbook = trial.with_fault(fault("b", role))
    findings = expect_alerts_without(trial.context, TrialStep(kind="expectAlerts", faults=("b",)), INJECTED)
    assert codes(findings) == expected
    assert all("(b)" in f.message for f in findings)


@pytest.mark.parametrize(
    ("role", "left_out", "code", "reported"),
    [
        ("Trigger", ("b",), "SK304", []),
        ("Trigger", ("b",), "SK331", []),
        ("Trigger", ("b",), "SK121", ["SK121"]),
        ("Trigger", (), "SK304", ["SK304"]),
        ("Distractor", ("b",), "SK304", ["SK418"]),
        ("Distractor", ("b",), "SK121", ["SK121"]),
    ],
)
def test_fault_may_be_silent_without_trigger_but_not_without_distractor(role, left_out, code, reported):
    trial = Trial(fault("a"))
    trial.context.runbook = trial.with_fault(fault("b", role))
    finding = Finding(code=code, severity=Severity.ERROR, message="a")
    assert codes(check_roles(trial.context, TrialStep(kind="inject", except_=left_out), [finding])) == reported


@pytest.mark.parametrize(("after", "expected"), [("b", ["SK418"]), ("a", [])])
def test_alert_cannot_count_from_an_excluded_fault(after, expected):
    """Alerts of a fault that was never injected are not required."""
    expectation = AlertExpectation(
        name="Errors", entity=Reference("Deployment", "web"), after=after, within_seconds=300
    )
    trial = Trial(alerts=(expectation,), firing={})
    trial.context.runbook = msgspec.structs.replace(
        trial.context.runbook, faults=(fault("a"), fault("b", "Distractor"))
    )
    findings = expect_alerts_without(trial.context, TrialStep(kind="expectAlerts", faults=("b",)), INJECTED)
    assert codes(findings) == expected
