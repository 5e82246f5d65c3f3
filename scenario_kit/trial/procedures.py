"""Steps *change* and *undoChange*: execute a solution, decoy, cheat or fix, and take it back."""

from __future__ import annotations

from typing import Final

from scenario_kit.changes import NoEffect
from scenario_kit.errors import AuthoringError, InfrastructureError, Rejected
from scenario_kit.load.rules import build_finding
from scenario_kit.model import CheckResult, Finding, TrialStep
from scenario_kit.model.authored.fault import name_fault_group
from scenario_kit.trial.engine.checks import await_until
from scenario_kit.trial.engine.context import TICK, TrialContext
from scenario_kit.trial.engine.rollouts import roll_out
from scenario_kit.trial.injection.inject import STEP

#: The finding for a procedure that cannot be executed, by its use.
_CODES: Final = {"Solution": "SK411", "Decoy": "SK121", "Fix": "SK401", "Sham": "SK307", "RemoveFault": "SK306"}
_UNDO_DEADLINE: Final = 300
#: Seconds of trial time that workloads have to come back after a procedure is taken back.
_REST: Final = 120


def change(context: TrialContext, step: TrialStep, index: int) -> tuple[list[Finding], list[CheckResult]]:
    """Execute a procedure. A solution that changes nothing, whose object is not there, or that the API server calls
    invalid, is no solution.
    """
    checks: list[CheckResult] = []
    if step.use == "Undo":
        _undo_object(context, step)
        return [], checks
    if step.use == "RemoveFault":
        return _remove_fault(context, step.name), checks
    procedure = context.runbook.procedure(step.use, step.name).solution
    for position, each in enumerate(procedure.changes):
        try:
            if name := each.operation.fault:
                findings = _remove_fault(context, name)
                if findings:
                    return findings, checks
            else:
                context.engine.do(each, ordinal=index * STEP + position, group=f"{step.use}/{step.name}")
        except (AuthoringError, Rejected) as problem:
            if step.use == "Cheat":  # what cannot be done, or does nothing, has not cheated anybody
                continue
            return [_report_impossible(step, problem)], checks
        context.settle()
        if each.until is not None:
            checks.append(await_until(context, each.until))
    return [], checks


def _remove_fault(context: TrialContext, name: str) -> list[Finding]:
    _undo(context, name_fault_group(name))
    return []


def _undo_object(context: TrialContext, step: TrialStep) -> None:
    """Put one object back to what it was before the fault; where that is refused, it stays as it is.

    A volume that is in use cannot be deleted, for example: then nobody could end the incident in that way either.
    """
    for fault in step.faults:
        context.engine.undo_object(name_fault_group(fault), step.name)
    context.settle()


def undo_change(context: TrialContext, step: TrialStep) -> None:
    """Take a procedure back, so that the next one meets the same broken app, in which nothing is still rolling."""
    _undo(context, f"{step.use}/{step.name}")
    changes = context.runbook.procedure(step.use, step.name).solution.changes
    touched = {(ref.kind, ref.name) for c in changes if (ref := c.operation.ref)}
    roll_out(context, touched, _REST)  # one that the fault keeps from coming back is not waited for longer


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
        expected="every change of it changes the object that it names",
        why="a documented step that does nothing misleads anyone who follows it",
        fix=problem.fix or "correct its target",
    )
