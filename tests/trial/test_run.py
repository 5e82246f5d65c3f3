"""Running a program: step outcomes, retries, saved status, and the end of a trial."""

import importlib
import logging
from copy import deepcopy
from types import SimpleNamespace

import msgspec
import pytest

from scenario_kit.errors import AuthoringError, CapabilityMissing, GuardRailError, InfrastructureError, KitError
from scenario_kit.model import (
    AlertHistory,
    AlertTimeline,
    CheckResult,
    Finding,
    Interval,
    Reference,
    Severity,
    StepStatus,
    TrialStep,
)
from scenario_kit.testing import FakeClock
from scenario_kit.trial.run import execute, list_alerts_now, mark_infra, reject, run
from scenario_kit.trial.status import AlertNow, TrialStatus

module = importlib.import_module("scenario_kit.trial.run")  # the package has a function by that name
PROGRAM = tuple(TrialStep(kind=k) for k in ("deploy", "expectQuiet", "inject", "teardown", "expectClean"))
ERROR = Finding(code="SK304", severity=Severity.ERROR, message="no effect", observed="o" * 5000, expected="e" * 5000)
WARNING = Finding(code="SK326", severity=Severity.WARNING, message="late")
CHECK = CheckResult(describe="c", answer="True", observed="o", expected="e", at=1.0)


class Lab:
    """A trial with scripted steps: a list of findings, an error, or a function."""

    def __init__(self, monkeypatch, *, steps=PROGRAM, virtual=True, trouble=(), **script):
        self.clock, self.script, self.calls, self.saved, self.pauses = FakeClock(1000.0), deepcopy(script), [], [], []
        self.context = SimpleNamespace(
            name="t", namespace="shop", clock=self.clock, spec=SimpleNamespace(steps=steps), virtual=virtual,
            diagnose=lambda: list(trouble), runbook=SimpleNamespace(outcome="NoIncident"), baseline=lambda: None,
        )  # fmt: skip
        monkeypatch.setattr(module, "execute", self.execute)

    def execute(self, context, step, index, start):
        assert context is self.context
        self.calls.append((step.kind, index, start))
        self.clock.wait(self.clock.now() + 10)
        answer = self.script.get(step.kind, [])
        if isinstance(answer, list) and answer and not isinstance(answer[0], Finding):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return list(answer), [CHECK] if step.kind == "inject" else []

    def run(self, status=None):
        return run(self.context, status or TrialStatus(observed_generation=3), self.saved.append, self.pauses.append)


def outcomes(status):
    return [s.outcome for s in status.steps]


def test_run_of_held_program(monkeypatch):
    lab = Lab(monkeypatch, expectQuiet=[WARNING])
    status = lab.run()
    assert lab.calls == [(s.kind, i, 1000.0 + 10 * i) for i, s in enumerate(PROGRAM)]
    assert outcomes(status) == ["Held"] * 5
    assert [(s.index, s.step, s.started_at, s.finished_at, s.message) for s in status.steps] == [
        (i, s.kind, 1000.0 + 10 * i, 1010.0 + 10 * i, "") for i, s in enumerate(PROGRAM)
    ]
    assert [s.checks for s in status.steps] == [(), (), (CHECK,), (), ()]
    assert (status.outcome, status.namespace, status.started_at, status.now) == ("Held", "shop", 1000.0, 1040.0)
    assert [(f.code, f.step, f.trial) for f in status.findings] == [("SK326", "expectQuiet", "t")]
    assert [(c.type, c.status, c.reason, c.message, c.observed_generation) for c in status.conditions] == [
        ("AppReady", "True", "DeployHeld", "", 3),
        ("BaselineQuiet", "True", "ExpectQuietHeld", "", 3),
        ("FaultsInjected", "True", "InjectHeld", "", 3),
        ("Clean", "True", "ExpectCleanHeld", "", 3),
        ("Succeeded", "True", "ProgramHeld", "", 3),
    ]
    assert lab.pauses == []


def test_run_saves_each_step_start_and_the_end_once(monkeypatch):
    lab = Lab(monkeypatch)
    status = lab.run()
    begun = [(s.current, s.now, outcomes(s)) for s in lab.saved[:-1]]
    assert begun == [(i, 1000.0 + 10 * i, ["Held"] * i + ["Running"]) for i in range(5)]
    assert lab.saved[-1] is status
    assert [s.outcome for s in lab.saved] == [""] * 5 + ["Held"]


@pytest.mark.parametrize(
    ("answer", "outcome", "code", "message", "reason", "condition"),
    [
        ([ERROR, WARNING], "Broken", "SK304", "no effect", "SK304", "False"),
        (AuthoringError("no such", [ERROR]), "Broken", "SK304", "no effect", "SK304", "False"),
        (AuthoringError("no such", fix="do"), "Broken", "SK301", "no such", "SK301", "False"),
        (CapabilityMissing("no kernel"), "Infra", "SK911", "no kernel", "InfrastructureFailed", "Unknown"),
    ],
)
def test_broken_step_skips_all_but_cleanup(monkeypatch, answer, outcome, code, message, reason, condition):
    lab = Lab(monkeypatch, expectQuiet=answer)
    status = lab.run()
    assert outcomes(status) == ["Held", outcome, "Skipped", "Held", "Held"]
    assert [kind for kind, *_ in lab.calls] == ["deploy", "expectQuiet", "teardown", "expectClean"], "once"
    broken, skipped = status.steps[1:3]
    assert (broken.message, broken.findings[0].code, broken.finished_at) == (message, code, 1020.0)
    assert (skipped.message, skipped.step) == ("step 1 (expectQuiet) did not hold", "inject")
    assert skipped.started_at == skipped.finished_at == 1020.0
    assert status.outcome == outcome
    assert [(c.type, c.status, c.reason, c.message) for c in status.conditions] == [
        ("AppReady", "True", "DeployHeld", ""),
        ("BaselineQuiet", condition, reason, message),
        ("Clean", "True", "ExpectCleanHeld", ""),
        ("Succeeded", "False", f"Program{outcome}" if outcome == "Broken" else "InfrastructureFailed", ""),
    ]
    assert lab.pauses == []


def test_findings_and_messages_fit_the_status(monkeypatch):
    long = TrialStep(kind="inject", name="n" * 200)
    lab = Lab(monkeypatch, steps=(long,), inject=[msgspec.structs.replace(ERROR, message="m" * 5000)])
    (step,) = lab.run().steps
    (finding,) = step.findings
    assert (len(step.step), len(step.message), len(finding.step)) == (128, 4000, 128)
    assert (len(finding.observed), len(finding.expected)) == (4000, 4000)
    assert [len(c.message) for c in lab.saved[-1].conditions] == [1000, 0]


def test_invalid_runbook_reports_a_fix(monkeypatch):
    status = Lab(monkeypatch, deploy=AuthoringError("not there", fix="name another")).run()
    (finding,) = status.findings
    assert (finding.severity, finding.message, finding.fix) == (Severity.ERROR, "not there", "name another")
    status = Lab(monkeypatch, deploy=CapabilityMissing("no kernel", fix="get one")).run()
    (finding,) = status.findings
    assert (finding.severity, finding.message, finding.fix) == (Severity.WARNING, "no kernel", "get one")


@pytest.mark.parametrize("problem", [GuardRailError, InfrastructureError])
def test_foreign_namespace_is_infra(monkeypatch, problem):
    status = Lab(monkeypatch, deploy=problem("'shop' exists and is not ours", fix="kubectl delete it")).run()
    assert (status.outcome, status.findings) == ("Infra", ())
    assert status.steps[0].message == "'shop' exists and is not ours: kubectl delete it"


@pytest.mark.parametrize(
    ("failures", "lost", "outcome", "shown"), [(2, False, "Held", 0), (9, False, "Held", 7), (9, True, "Infra", 0)]
)
def test_live_incident_survives_infra_failures(monkeypatch, failures, lost, outcome, shown):
    step = TrialStep(kind="expectCleared", forever=True)
    lab = Lab(monkeypatch, steps=(step,), expectCleared=[DOWN] * failures + [[]])
    messages = []
    lab.context.lost, lab.context.show = lambda: lost, lambda answer, reasons: messages.append((answer, *reasons))
    status = lab.run()
    assert outcomes(status) == [outcome]
    assert messages == [("Unknown", "no answer")] * shown
    assert lab.pauses[:2] == [2.0, 4.0]
    assert max(lab.pauses) <= 30.0


DOWN = InfrastructureError("no answer")


@pytest.mark.parametrize(
    ("failures", "outcome", "pauses", "message"),
    [
        (0, "Held", [], ""),
        (1, "Held", [2.0], "no answer"),
        (2, "Held", [2.0, 4.0], "no answer"),
        (3, "Infra", [2.0, 4.0], "no answer"),
    ],
)
def test_infra_failure_is_retried_three_times_and_recorded(monkeypatch, failures, outcome, pauses, message):
    lab = Lab(monkeypatch, expectQuiet=[DOWN] * failures + [[], []])
    status = lab.run()
    assert (status.steps[1].outcome, status.steps[1].message, lab.pauses) == (outcome, message, pauses)
    assert status.outcome == outcome
    assert status.steps[1].findings == ()
    starts = {start for kind, _, start in lab.calls if kind == "expectQuiet"}
    assert starts == {1010.0}, "called again with the time at which it began"
    unproven = [(c.status, c.reason) for c in status.conditions if c.type == "BaselineQuiet"]
    assert unproven == [("Unknown", "InfrastructureFailed") if failures == 3 else ("True", "ExpectQuietHeld")]


@pytest.mark.parametrize(
    ("script", "trouble", "outcome"),
    [
        ({"inject": [ERROR]}, (), "Broken"),
        ({"inject": [ERROR]}, ("the disk is full",), "Infra"),
        ({"inject": [DOWN, [ERROR], [ERROR]]}, (), "Infra"),  # time passed in the first attempt
        ({"deploy": [DOWN, []], "inject": [ERROR]}, (), "Infra"),  # what came before may be why
        ({"inject": [WARNING]}, ("the disk is full",), "Held"),
        ({"deploy": [DOWN, []]}, (), "Held"),
    ],
)
def test_broken_requires_healthy_infrastructure(monkeypatch, script, trouble, outcome):
    status = Lab(monkeypatch, trouble=trouble, **script).run()
    assert (status.steps[2].outcome, status.outcome) == (outcome, outcome)
    if outcome == "Infra":
        assert status.steps[2].findings == ()
        assert status.steps[2].message


def test_internal_error_is_infra(monkeypatch):
    with pytest.raises(KitError):
        Lab(monkeypatch, deploy=KitError("ours")).run()


def build_running_step(index, at=990.0, message=""):
    return StepStatus(index=index, step=PROGRAM[index].kind, outcome="Running", started_at=at, message=message)


def build_held_step(index):
    return StepStatus(index=index, step=PROGRAM[index].kind, outcome="Held", started_at=0.0, finished_at=1.0)


@pytest.mark.parametrize(
    ("virtual", "before", "message", "outcome"),
    [
        (True, "", "", "Broken"),
        (False, "", "resumed by another process", "Infra"),
        (False, "the first word", "the first word", "Infra"),
    ],
)
def test_resumed_step_keeps_start_and_unobserved_time_is_infra(monkeypatch, virtual, before, message, outcome):
    lab = Lab(monkeypatch, virtual=virtual, expectQuiet=[ERROR])
    status = TrialStatus(
        steps=(build_held_step(0), build_running_step(1, message=before)), started_at=5.0, namespace="other"
    )
    done = lab.run(status)
    assert lab.calls[0] == ("expectQuiet", 1, 990.0)
    assert (done.started_at, done.namespace) == (5.0, "other")
    assert lab.saved[0].steps[1].message.startswith(message)
    assert lab.saved[0].current == 1
    assert (done.steps[1].started_at, done.steps[1].outcome) == (990.0, outcome)


def test_step_end_has_time_without_clock(monkeypatch):
    lab = Lab(monkeypatch, expectQuiet=[DOWN] * 3)

    class Silent(FakeClock):
        silent = False

        def now(self):
            if self.silent:
                raise InfrastructureError("no clock")
            return super().now()

    lab.clock = lab.context.clock = Silent(1000.0)
    execute = module.execute

    def failing(context, step, index, start):
        lab.clock.silent = step.kind == "expectQuiet"
        if lab.clock.silent:
            raise DOWN
        return execute(context, step, index, start)

    monkeypatch.setattr(module, "execute", failing)
    lab.context.spec = SimpleNamespace(steps=PROGRAM[:2])
    done = lab.run()
    assert (done.steps[1].started_at, done.steps[1].finished_at) == (1010.0, 1010.0)


def test_every_step_is_logged_with_its_outcome(monkeypatch, caplog):
    with caplog.at_level(logging.INFO, logger=module.__name__):
        Lab(monkeypatch, deploy=[ERROR]).run()
    messages = [r.getMessage() for r in caplog.records if "wall time" in r.getMessage()]
    assert [s.split(" after ")[0] for s in messages] == ["t: deploy Broken", "t: teardown Held", "t: expectClean Held"]
    assert all(float(s.split(" after ")[1].split()[0]) < 60 for s in messages)


# --- trials that cannot go on, or begin


@pytest.mark.parametrize(
    ("steps", "lost"),
    [
        ((), StepStatus(index=0, step="deploy", outcome="Infra", started_at=7.0, finished_at=7.0, message="gone")),
        ((build_held_step(0),),
         StepStatus(index=1, step="expectQuiet", outcome="Infra", started_at=7.0, finished_at=7.0, message="gone")),
        ((build_held_step(0), build_running_step(1, 3.0, "x")),
         StepStatus(index=1, step="expectQuiet", outcome="Infra", started_at=3.0, finished_at=3.0, message="gone")),
        ((build_held_step(0), build_held_step(1), build_held_step(2)), None),  # the clean-up is never given up
        ((build_held_step(0), build_held_step(1), build_held_step(2), build_running_step(3)), None),
        (tuple(map(build_held_step, range(5))), None),
    ],
)  # fmt: skip
def test_lost_world_fails_the_due_step(steps, lost):
    before = TrialStatus(steps=steps, now=7.0)
    after = mark_infra(SimpleNamespace(spec=SimpleNamespace(steps=PROGRAM)), before, "gone")
    if lost is None:
        assert after == before
    else:
        assert after.step(lost.index) == lost
        assert len(after.steps) == lost.index + 1


def test_lost_world_before_start_is_infra():
    context = SimpleNamespace(spec=SimpleNamespace(steps=(TrialStep(kind="inject", name="n" * 200),)))
    (step,) = mark_infra(context, TrialStatus(), "gone").steps
    assert (step.started_at, len(step.step)) == (0.0, 128)


def test_refused_trial_changes_nothing():
    steps = (TrialStep(kind="deploy", name="n" * 200), *PROGRAM[1:])
    finding = msgspec.structs.replace(ERROR, message="m" * 5000)
    status = reject("t", steps, TrialStatus(now=7.0, observed_generation=2, alerts=(ALERT,)), finding)
    assert {(s.started_at, s.finished_at) for s in status.steps} == {(7.0, 7.0)}
    assert [s.index for s in status.steps] == list(range(5))
    assert [s.message for s in status.steps[1:]] == ["the trial could not start"] * 4
    assert (len(status.steps[0].step), len(status.steps[0].message)) == (128, 4000)
    assert (len(status.findings[0].step), len(status.findings[0].observed)) == (128, 4000)
    assert status.alerts == ()
    assert reject("t", steps, TrialStatus(), finding).steps[0].started_at == 0.0


# --- alerts of the moment

ALERT = AlertNow(name="A", state="Firing", since=1.0)


def timeline(name, entity="", firing=(), pending=()):
    spans = lambda pairs: tuple(Interval(start=a, end=b) for a, b in pairs)  # noqa: E731
    return AlertTimeline(
        name=name, entity=Reference.parse(entity) if entity else None, firing=spans(firing), pending=spans(pending)
    )


@pytest.mark.parametrize(
    ("timelines", "now"),
    [
        ([], []),
        ([timeline("A", firing=[(1.0, 2.0)], pending=[(0.0, 1.0)])], []),
        ([timeline("A", "Pod/x", [(1.0, 2.0), (5.0, None)])], [("A", "Pod/x", "Firing", 5.0)]),
        ([timeline("A", "Pod/x", [(1.0, 2.0)], [(0.0, 1.0), (4.0, None)])], [("A", "Pod/x", "Pending", 4.0)]),
        ([timeline("A", firing=[(5.0, None)], pending=[(3.0, None)])], [("A", None, "Firing", 5.0)]),
        ([timeline("A", pending=[(3.0, None)]), timeline("C", firing=[(5.0, None)]),
          timeline("B", firing=[(6.0, None)])],
         [("B", None, "Firing", 6.0), ("C", None, "Firing", 5.0), ("A", None, "Pending", 3.0)]),
    ],
)  # fmt: skip
def test_firing_alerts_precede_pending_ones(timelines, now):
    found = list_alerts_now(AlertHistory(start=0.0, end=9.0, timelines=tuple(timelines)))
    assert [(a.name, a.entity, a.state, a.since) for a in found] == now


# --- which step does what


@pytest.mark.parametrize(
    ("step", "target", "arguments", "with_checks"),
    [
        (TrialStep(kind="deploy"), "deploy.deploy", ("context",), False),
        (TrialStep(kind="expectQuiet"), "alert_steps.expect_quiet", ("context", "step", 3, 7.0), False),
        (TrialStep(kind="expectAlerts"), "alert_steps.expect_alerts", ("context", 7.0), False),
        (
            TrialStep(kind="expectAlerts", faults=("a",)),
            "role_checks.expect_alerts_without",
            ("context", "step", 7.0),
            False,
        ),
        (TrialStep(kind="hold"), "alert_steps.hold", ("context", "step", 7.0), True),
        (TrialStep(kind="change"), "procedures.change", ("context", "step", 3), True),
        (TrialStep(kind="expectStillFiring"), "alert_steps.expect_still_firing", ("context", "step", 7.0), False),
        (TrialStep(kind="expectCleared"), "resolve.expect_cleared", ("context", "step", 3, 7.0), False),
        (TrialStep(kind="expectUnresolved"), "resolve.expect_unresolved", ("context", "step", 7.0), False),
        (TrialStep(kind="expectNoLeaks"), "leaks.expect_no_leaks", ("context",), False),
        (TrialStep(kind="teardown"), "deploy.tear_down", ("context",), False),
        (TrialStep(kind="expectClean"), "clean_room.expect_clean", ("context",), False),
    ],
    ids=lambda value: value.kind if isinstance(value, TrialStep) else "",
)
def test_each_step_runs_its_implementation(monkeypatch, step, target, arguments, with_checks):
    seen, context = [], object()
    place, name = target.split(".")
    answer = ([ERROR], [CHECK]) if with_checks else [ERROR]
    monkeypatch.setattr(getattr(module, place), name, lambda *given: seen.append(given) or answer)
    assert execute(context, step, 3, 7.0) == ([ERROR], [CHECK] if with_checks else [])
    assert seen == [tuple({"context": context, "step": step}.get(a, a) for a in arguments)]


def test_injection_is_checked_by_roles(monkeypatch):
    context, seen = object(), []
    monkeypatch.setattr(module.inject, "inject", lambda *given: seen.append(given) or ([ERROR], [CHECK]))
    monkeypatch.setattr(module.role_checks, "check_roles", lambda *given: seen.append(given) or [WARNING])
    step = TrialStep(kind="inject")
    assert execute(context, step, 3, 7.0) == ([WARNING], [CHECK])
    assert seen == [(context, step, 3, 7.0), (context, step, [ERROR])]
    undone, step = [], TrialStep(kind="undoChange")
    monkeypatch.setattr(module.procedures, "undo_change", lambda *given: undone.append(given))
    assert execute(context, step, 3, 7.0) == ([], [])
    assert undone == [(context, step)]
