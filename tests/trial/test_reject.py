"""Trials that cannot start state the reason and who has to act."""

import json

import pytest

from scenario_kit.load.schema.validation import find_mistakes
from scenario_kit.load.yaml.document import Positions
from scenario_kit.model import Finding, Severity, TrialStep
from scenario_kit.schema import expand, load_definitions
from scenario_kit.trial import TrialStatus, reject

PROGRAM = tuple(TrialStep(kind=k) for k in ("deploy", "expectQuiet", "teardown", "expectClean"))


@pytest.mark.parametrize(
    ("code", "severity", "outcome", "ready", "succeeded"),
    [
        ("SK138", Severity.ERROR, "Broken", ("False", "SK138"), "ProgramBroken"),
        ("SK911", Severity.WARNING, "Infra", ("Unknown", "InfrastructureFailed"), "InfrastructureFailed"),
    ],
)
def test_rejection_outcome_depends_on_finding_code(code, severity, outcome, ready, succeeded):
    finding = Finding(code=code, severity=severity, message="it has no twin")
    status = reject("t", PROGRAM, TrialStatus(observed_generation=1), finding)
    assert status.outcome == outcome
    assert [s.outcome for s in status.steps] == [outcome, "Skipped", "Skipped", "Skipped"]
    assert [(f.code, f.trial, f.step) for f in status.findings] == [(code, "t", "deploy")]
    conditions = {c.type: (c.status, c.reason, c.message) for c in status.conditions}
    assert conditions == {"AppReady": (*ready, "it has no twin"), "Succeeded": ("False", succeeded, "")}
    assert (
        find_mistakes(
            json.loads(json.dumps(status.to_json())), expand(load_definitions()["TrialStatus"]), Positions("status")
        )
        == []
    )
