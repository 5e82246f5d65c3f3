"""Execute a trial: plan, run a step, record its outcome, repeat (docs/architecture.md).

Every step is re-entrant: after a crash it is called again with the same start time, finds its receipts, and sees the
same samples. An infrastructure failure is retried a few times and then ends the step as ``Infra``. A live incident that
is waited on outlasts it, as long as its world exists.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import Final, Literal

import msgspec

from scenario_kit.errors import AuthoringError, CapabilityMissing, GuardRailError, InfrastructureError, ScenarioKitError
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertHistory, CheckResult, Finding, Severity, StepStatus, TrialStep
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.trial import clean_room, deploy, procedures
from scenario_kit.trial.alerts import alert_steps, role_checks
from scenario_kit.trial.engine.context import TrialContext
from scenario_kit.trial.engine.foreign_removal import describe_foreign_removal
from scenario_kit.trial.injection import expiry, inject
from scenario_kit.trial.investigation import leaks
from scenario_kit.trial.plan import ALWAYS, Finish, RunStep, Skip, plan
from scenario_kit.trial.resolution import hidden_symptoms, resolve
from scenario_kit.trial.status import PROOF, AlertNow, TrialStatus

log = logging.getLogger(__name__)
_ATTEMPTS: Final = 3
#: Seconds of wall time between two attempts of a step that never ends, at most.
_LONGEST_PAUSE: Final = 30.0
#: Maximum length of a message in the status schema.
_LONGEST: Final = 4000
_RESUMED: Final = "resumed by another process; the unobserved gap is unknown"
_NOT_STARTED: Final = "the trial could not start"
Save = Callable[[TrialStatus], None]


def run(context: TrialContext, status: TrialStatus, save: Save, pause: Callable[[float], None]) -> TrialStatus:
    """Run or resume the program to its end, saving the status as each step begins and at the end.

    The end of a step is saved together with the beginning of the next; a lost save re-runs the step.

    Raises:
        Stopped: the run was stopped; call again with the saved status to resume.
    """
    while True:
        action = plan(context.spec.steps, status.steps)
        if isinstance(action, Finish):
            status = _finish(context.name, status, action.outcome)
            save(status)
            return status
        if isinstance(action, Skip):
            status = _skip(context, status, action)
            continue
        status = _begin(context, status, action.index)
        save(status)
        began = time.monotonic()
        status = _run_step(context, status, action.index, pause)
        _log(context, status, action.index, time.monotonic() - began)


def _log(context: TrialContext, status: TrialStatus, index: int, seconds: float) -> None:
    done = status.step(index)
    assert done is not None
    log.info("%s: %s %s after %.2f s of wall time", context.name, done.step, done.outcome, seconds)


def mark_infra(context: TrialContext, status: TrialStatus, message: str) -> TrialStatus:
    """Mark the current step as ``Infra``, so that only clean-up follows."""
    action = plan(context.spec.steps, status.steps)
    if not isinstance(action, RunStep) or context.spec.steps[action.index].kind in ALWAYS:
        return status
    step = status.step(action.index) or _open_step(context, action.index, "Infra", status.now or 0.0)
    return status.with_step(
        msgspec.structs.replace(step, outcome="Infra", finished_at=step.started_at, message=message)
    )


def reject(name: str, steps: Sequence[TrialStep], status: TrialStatus, finding: Finding) -> TrialStatus:
    """Return the status of a trial that cannot start: its first step failed, and all others are skipped.

    A finding of severity error makes it Broken, any other Infra.
    """
    outcome: Literal["Broken", "Infra"] = "Broken" if finding.severity == Severity.ERROR else "Infra"
    at = status.now or 0.0
    ended = [
        StepStatus(
            index=i, step=str(step)[:128], outcome="Skipped", started_at=at, finished_at=at, message=_NOT_STARTED
        )
        for i, step in enumerate(steps)
    ]
    first = msgspec.structs.replace(
        ended[0],
        outcome=outcome,
        message=finding.message[:_LONGEST],
        findings=(_truncate_finding(finding, ended[0].step),),
    )
    status = msgspec.structs.replace(status, steps=(first, *ended[1:]))
    return _finish(name, _record_proof(status, steps[0], first), outcome)


def _open_step(
    context: TrialContext, index: int, outcome: Literal["Infra", "Running", "Skipped"], at: float
) -> StepStatus:
    return StepStatus(index=index, step=str(context.spec.steps[index])[:128], outcome=outcome, started_at=at)


def _begin(context: TrialContext, status: TrialStatus, index: int) -> TrialStatus:
    now = context.clock.now()
    if status.started_at is None:
        status = msgspec.structs.replace(status, started_at=now, namespace=context.namespace)
    running = status.step(index)
    if running is not None and not context.virtual and not running.message:
        # On a wall clock, a deadline may have passed in the gap.
        status = status.with_step(msgspec.structs.replace(running, message=_RESUMED))
    if running is None:
        status = status.with_step(_open_step(context, index, "Running", now))
    return msgspec.structs.replace(status, now=now, current=index)


def _skip(context: TrialContext, status: TrialStatus, action: Skip) -> TrialStatus:
    because = f"step {action.because} ({context.spec.steps[action.because]}) did not hold"
    now = context.clock.now()
    step = _open_step(context, action.index, "Skipped", now)
    return status.with_step(msgspec.structs.replace(step, finished_at=now, message=because))


def _run_step(context: TrialContext, status: TrialStatus, index: int, pause: Callable[[float], None]) -> TrialStatus:
    running = status.step(index)
    assert running is not None
    step = context.spec.steps[index]
    checks: list[CheckResult] = []
    message = running.message
    for attempt in count():
        try:
            before = message or _find_earlier_infra_failure(status)
            findings, checks, broken = _judge_step(context, index, running.started_at, before)
            outcome = "Broken" if broken else "Held"
            break
        except CapabilityMissing as lack:
            findings, outcome, message = [_report_missing_capability(lack)], "Infra", lack.message
            break
        except (InfrastructureError, GuardRailError) as error:
            log.warning("%s, step %s: %s", context.name, step, error)
            findings, outcome, message = [], "Infra", _format_trouble(error)
            if attempt + 1 >= _ATTEMPTS and not (step.forever and _can_go_on(context)):
                break
            if attempt + 1 >= _ATTEMPTS:
                context.show("Unknown", (message,))
            pause(min(2.0 * (attempt + 1), _LONGEST_PAUSE))
    done = msgspec.structs.replace(
        running,
        outcome=outcome,
        finished_at=_read_now(context, running.started_at),
        message=(message or "; ".join(f.message for f in findings if f.severity == Severity.ERROR))[:_LONGEST],
        findings=tuple(_truncate_finding(f, str(step)) for f in findings),
        checks=tuple(checks),
    )
    return _record_proof(status.with_step(done), step, done)


def _judge_step(
    context: TrialContext, index: int, start: float, before: str
) -> tuple[list[Finding], list[CheckResult], bool]:
    """Execute a step; return its explained findings, its checks, and whether it broke.

    Raises:
        InfrastructureError: it broke, and the scenario may not be to blame; ``before`` is an earlier infrastructure
            failure.
    """
    step = context.spec.steps[index]
    checks: list[CheckResult] = []
    try:
        findings, checks = execute(context, step, index, start)
        findings = expiry.explain_expiry(context, step, findings)
        findings = hidden_symptoms.explain_hiding(context, step, findings)
        broken = any(f.severity == Severity.ERROR for f in findings)
        if broken:
            _raise_if_infra_failed(context, before)
    except AuthoringError as error:
        findings, broken = _list_findings(error), True
    # The last steps remove the app themselves.
    if broken and step.kind not in ALWAYS and (removal := describe_foreign_removal(context)):
        raise InfrastructureError(removal)
    return findings, checks, broken


def _format_trouble(problem: ScenarioKitError) -> str:
    return f"{problem.message}: {problem.fix}" if problem.fix else problem.message


def _can_go_on(context: TrialContext) -> bool:
    """Return whether a live incident survives an infrastructure failure, because it is under investigation."""
    try:
        return not context.lost()
    except InfrastructureError:
        return True  # unknown yet


def _find_earlier_infra_failure(status: TrialStatus) -> str:
    """Find an infrastructure failure of an earlier step, even one that held in the end; empty if none.

    A later failure may be its consequence: time passed, or a clean-up was interrupted. Only a trial without any counts
    against a scenario.
    """
    for step in status.steps:
        if step.message and step.outcome in ("Held", "Infra"):
            return f"step {step.step}: {step.message}"
    return ""


def _raise_if_infra_failed(context: TrialContext, before: str) -> None:
    """Raise if infrastructure failed during the step, as its findings may then not be the scenario's fault.

    ``before`` is the infrastructure failure of an earlier attempt; a deadline may have passed because of it.
    """
    if problems := before or "; ".join(context.diagnose()):
        raise InfrastructureError(problems)


def execute(
    context: TrialContext, step: TrialStep, index: int, start: float
) -> tuple[list[Finding], list[CheckResult]]:
    """Execute one step; return its findings and the results of its checks."""
    match step.kind:
        case "deploy":
            return deploy.deploy(context), []
        case "expectQuiet":
            return alert_steps.expect_quiet(context, step, index, start), []
        case "inject":
            findings, checks = inject.inject(context, step, index, start)
            return role_checks.check_roles(context, step, findings), checks
        case "expectAlerts" if step.faults:
            return role_checks.expect_alerts_without(context, step, start), []
        case "expectAlerts":
            return alert_steps.expect_alerts(context, start), []
        case "hold":
            return alert_steps.hold(context, step, start)
        case "change":
            return procedures.change(context, step, index)
        case "undoChange":
            procedures.undo_change(context, step)
            return [], []
        case "expectStillFiring":
            return alert_steps.expect_still_firing(context, step, start), []
        case "expectCleared":
            return resolve.expect_cleared(context, step, index, start), []
        case "expectUnresolved":
            return resolve.expect_unresolved(context, step, start), []
        case "expectNoLeaks":
            return leaks.expect_no_leaks(context), []
        case "teardown":
            return deploy.tear_down(context), []
        case "expectClean":
            return clean_room.expect_clean(context), []


def _truncate_finding(finding: Finding, step: str) -> Finding:
    """Truncate a finding to the limits of the status schema."""
    return msgspec.structs.replace(
        finding, step=step[:128], observed=finding.observed[:_LONGEST], expected=finding.expected[:_LONGEST]
    )


def _record_proof(status: TrialStatus, step: TrialStep, done: StepStatus) -> TrialStatus:
    condition = PROOF.get(step.kind)
    if condition is None:
        return status
    if done.outcome == "Held":
        return status.with_condition(condition, "True", f"{step.kind[0].upper()}{step.kind[1:]}Held", "")
    answer: Literal["False", "Unknown"] = "Unknown" if done.outcome == "Infra" else "False"
    reason = "InfrastructureFailed" if done.outcome == "Infra" else done.findings[0].code if done.findings else "Broken"
    return status.with_condition(condition, answer, reason, done.message[:1000])


def _finish(name: str, status: TrialStatus, outcome: Literal["Held", "Broken", "Infra"]) -> TrialStatus:
    findings = tuple(msgspec.structs.replace(f, trial=name) for s in status.steps for f in s.findings)
    reason = {"Held": "ProgramHeld", "Broken": "ProgramBroken", "Infra": "InfrastructureFailed"}[outcome]
    finished = msgspec.structs.replace(status, outcome=outcome, findings=findings, alerts=())
    return finished.with_condition("Succeeded", "True" if outcome == "Held" else "False", reason, "")


def _list_findings(problem: AuthoringError) -> list[Finding]:
    if problem.findings:
        return list(problem.findings)
    return [build_finding("SK301", message=problem.message, fix=problem.fix, why="")]


def _report_missing_capability(problem: CapabilityMissing) -> Finding:
    return build_finding(
        "SK911",
        message=problem.message,
        why="this environment cannot run the scenario; the scenario is not at fault",
        fix=problem.fix or "run it on a cluster with real containers, or remove the requirement",
    )


def _read_now(context: TrialContext, fallback: float) -> float:
    try:
        return context.clock.now()
    except InfrastructureError:
        return fallback


def list_alerts_now(history: AlertHistory) -> tuple[AlertNow, ...]:
    """List the alerts pending or firing at the end of a history, firing first."""
    present: list[AlertNow] = []
    for timeline in sorted(history.timelines, key=name_alert):
        if open_ := [i for i in timeline.firing if i.end is None]:
            present.append(AlertNow(name=timeline.name, entity=timeline.entity, state="Firing", since=open_[-1].start))
        elif open_ := [i for i in timeline.pending if i.end is None]:
            present.append(AlertNow(name=timeline.name, entity=timeline.entity, state="Pending", since=open_[-1].start))
    return tuple(sorted(present, key=lambda a: a.state))
