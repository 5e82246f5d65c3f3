"""Silent incidents: their checks show them, end with them, and outlast ineffective actions."""

import msgspec
import pytest

from scenario_kit.judge.repair.resolution import EntryTraffic
from scenario_kit.model import Reference, TrialStep
from scenario_kit.trial.alerts.alert_steps import expect_alerts, expect_still_firing, hold
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.resolution.resolve import expect_cleared
from tests.trial.test_alert_steps import ALWAYS, INJECTED, REPAIRED, Trial, codes, fault

CHECK = {"object": {"ref": "ConfigMap/a", "path": "data.k", "equals": "bad"}, "describe": "the key is bad"}
STAYING = {"object": {"ref": "ConfigMap/a", "path": "metadata.name", "equals": "a"}, "stays": True}
SERVED = EntryTraffic(seconds=300, requests=600, errors=600)


def build_silent_trial(firing=None):
    trial = Trial(fault("a"), firing=firing or {}, checks=[CHECK, STAYING])
    expect = msgspec.structs.replace(trial.runbook.expect, silent=True)
    trial.context.runbook = msgspec.structs.replace(trial.runbook, expect=expect)
    return trial


def repair(trial):
    trial.cluster.patch(Reference.parse("shop/ConfigMap/a"), {"data": {"k": "good"}})


def test_benign_scenario_holds_without_alerts():
    trial = build_silent_trial()
    assert expect_alerts(trial.context, INJECTED) == []
    findings, answers = hold(trial.context, TrialStep(kind="hold"), INJECTED)
    assert findings == []
    assert [each.answer for each in answers] == ["True", "True"]


def test_alert_is_a_finding():
    findings, _ = hold(build_silent_trial(ALWAYS).context, TrialStep(kind="hold"), INJECTED)
    assert codes(findings) == ["SK327"]
    assert "silent" in findings[0].expected


@pytest.mark.parametrize(("use", "code"), [("Decoy", "SK431"), ("Fix", "SK402"), ("Undo", "SK402")])
@pytest.mark.parametrize("ends", [False, True])
def test_procedure_that_ends_the_checks_is_a_repair(use, code, ends):
    trial = build_silent_trial()
    change = TrialStep(kind="change", use=use, name="d", faults=("a",))
    step = TrialStep(kind="expectStillFiring", use=use, name="d")
    trial.context.spec = msgspec.structs.replace(trial.context.spec, steps=(*trial.context.spec.steps, change, step))
    trial.clock.wait(REPAIRED)
    if ends:
        repair(trial)
    assert codes(expect_still_firing(trial.context, step, REPAIRED)) == ([code] if ends else [])


@pytest.mark.parametrize("ends", [False, True])
def test_silent_incident_is_resolved_when_checks_fail(ends):
    trial = build_silent_trial()
    context = trial.context
    context.save_baseline(Baseline(namespace_uid=context.identity(), served=SERVED))
    trial.clock.wait(REPAIRED)
    if ends:
        repair(trial)
    findings = expect_cleared(context, TrialStep(kind="expectCleared", use="Fix", name="a"), 5, REPAIRED)
    assert codes(findings) == ([] if ends else ["SK401"])
    if not ends:
        assert "the key is bad" in findings[0].observed
