"""Steps *change* and *undoChange*: execute a solution, decoy, cheat or fix, and undo it."""

from __future__ import annotations

from typing import Final

from scenario_kit.changes import NoEffect
from scenario_kit.errors import AuthoringError, InfrastructureError, Rejected
from scenario_kit.load.rules import build_finding
from scenario_kit.model import CheckResult, Finding, Reference, TrialStep
from scenario_kit.model.authored.fault import name_fault_group
from scenario_kit.trial.engine.checks import await_until
from scenario_kit.trial.engine.context import TICK, TrialContext
from scenario_kit.trial.engine.rollouts import roll_out
from scenario_kit.trial.injection.inject import STEP

#: Finding code for a procedure that cannot be executed, by use.
_CODES: Final = {"Solution": "SK411", "Decoy": "SK121", "Fix": "SK401", "Sham": "SK307", "RemoveFault": "SK306"}
_UNDO_DEADLINE: Final = 300
#: Seconds of trial time for workloads to recover after a procedure is undone.
_REST: Final = 120


def change(context: TrialContext, step: TrialStep, index: int) -> tuple[list[Finding], list[CheckResult]]:
    """Execute a procedure. One that changes nothing, whose object is missing, or that the API server rejects, is
    reported.
    """
    checks: list[CheckResult] = []
    if step.use == "Undo":
        _undo_object(context, step)
        return [], checks
    if step.use == "RemoveFault":
        return _remove_fault(context, step.name), checks
    procedure = context.runbook.procedure(step.use, step.name).solution
    if step.use == "Fix" and procedure.fixes and all(map(context.has_ended, procedure.fixes)):
        return [], checks  # its stage is over, and with it what there was to repair
    for position, each in enumerate(procedure.changes):
        try:
            if name := each.operation.fault:
                findings = _remove_fault(context, name)
                if findings:
                    return findings, checks
            else:
                context.engine.do(each, ordinal=index * STEP + position, group=f"{step.use}/{step.name}")
        except (AuthoringError, Rejected) as error:
            if step.use == "Cheat":  # a cheat that cannot be executed has no effect to check
                continue
            return [_report_impossible(step, error)], checks
        context.settle()
        if each.until is not None:
            checks.append(await_until(context, each.until))
    return [], checks


def _remove_fault(context: TrialContext, name: str) -> list[Finding]:
    _undo(context, name_fault_group(name))
    return []


def _undo_object(context: TrialContext, step: TrialStep) -> None:
    """Restore one object to its state before the fault; if that is refused, it stays as it is.

    For example, a volume in use cannot be deleted, so the incident cannot be ended that way either.
    """
    for fault in step.faults:
        context.engine.undo_object(name_fault_group(fault), Reference.parse(step.name))
    context.settle()


def undo_change(context: TrialContext, step: TrialStep) -> None:
    """Undo a procedure and wait for its rollouts, so that the next one starts from the same broken app."""
    _undo(context, f"{step.use}/{step.name}")
    changes = context.runbook.procedure(step.use, step.name).solution.changes
    touched = {(ref.kind, ref.name) for c in changes if (ref := c.operation.ref)}
    roll_out(context, touched, _REST)  # the fault may keep one from recovering


def _undo(context: TrialContext, group: str) -> None:
    deadline = context.clock.now() + _UNDO_DEADLINE
    while blocked := context.engine.undo_group(group):
        if context.clock.now() >= deadline:
            raise InfrastructureError(
                "; ".join(f"undo of {b.group} on {b.target} is blocked: {b.reason}" for b in blocked)
            )
        context.wait(context.clock.now() + (TICK if context.virtual else 1))
    context.settle()


def _report_impossible(step: TrialStep, problem: AuthoringError | Rejected) -> Finding:
    nothing = isinstance(problem, NoEffect)
    return build_finding(
        _CODES[step.use],
        message=f"{step.use.lower()} '{step.name}' " + ("changes nothing" if nothing else "cannot be executed"),
        observed=problem.message,
        expected="each of its changes changes its target",
        why="a documented step without effect misleads its readers",
        fix=problem.fix or "correct its target",
    )
