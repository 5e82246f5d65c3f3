"""Temporary stages: the fault is undone at its end, also after a restart."""

import msgspec
import pytest

from scenario_kit.model import Change, Procedure, Reference, Solution, TrialStep
from scenario_kit.trial.engine import noise
from scenario_kit.trial.injection.inject import inject
from scenario_kit.trial.procedures import change
from tests.trial.test_alert_steps import INJECTED, Trial, fault

REF = Reference.parse("shop/ConfigMap/a")


def inject_stage(seconds=300):
    """Build a trial with an injected distractor of that duration."""
    trial = Trial(msgspec.structs.replace(fault("a", "Distractor"), lasts_seconds=seconds), fault("b"))
    return trial, trial.context.injected_at("a")


def read_key(trial, ref=REF):
    return trial.cluster.get(ref)["data"]["k"]


def test_stage_end_undoes_its_fault():
    trial, injected = inject_stage()
    trial.context.wait(injected + 285)
    assert read_key(trial) == "bad"
    assert trial.context.end_stages() == injected + 300
    trial.context.wait(injected + 600)
    assert read_key(trial) == "good"
    assert read_key(trial, Reference.parse("shop/ConfigMap/b")) == "bad"
    assert trial.context.end_stages() == noise.NEVER


def test_stage_ends_on_time_during_a_long_wait():
    trial, injected = inject_stage()
    times = []
    undo = trial.context.engine.undo_group
    trial.context.engine.undo_group = lambda group: times.append((group, trial.clock.now())) or undo(group)
    trial.context.wait(injected + 3000)
    assert times == [("Fault/a", injected + 300)]


@pytest.mark.parametrize("seconds", [None, 7200])
def test_stage_without_end_stays_active(seconds):
    trial, injected = inject_stage(seconds)
    trial.context.wait(injected + 3000)
    assert read_key(trial) == "bad"


def test_ended_stage_keeps_its_injection_time():
    trial, injected = inject_stage()
    trial.context.wait(injected + 600)
    assert trial.context.injected_at("a") == injected
    inject(trial.context, TrialStep(kind="inject"), 2, INJECTED)  # a step that runs again after a crash
    assert read_key(trial) == "good"


@pytest.mark.parametrize(("seconds", "ended"), [(300, True), (7200, False), (None, False)])
def test_ended_stage_needs_no_repair(seconds, ended):
    """The repair of everything but the causes passes over a stage that is over: there is nothing left to change."""
    trial, injected = inject_stage(seconds)
    trial.context.wait(injected + 600)
    removal = Solution(name="a:0", fixes=("a",), changes=(Change.from_json({"removeFault": {"fault": "gone"}}),))
    procedures = (Procedure(use="Fix", name="a:0", solution=removal),)
    trial.context.runbook = msgspec.structs.replace(trial.context.runbook, procedures=procedures)
    step = TrialStep(kind="change", use="Fix", name="a:0")
    calls = []
    trial.context.engine.undo_group = lambda group: calls.append(group) or []
    change(trial.context, step, 5)
    assert trial.context.has_ended("a") == ended
    assert calls == ([] if ended else ["Fault/gone"])
