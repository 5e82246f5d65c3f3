"""Step *inject*: break things in the order of the scenario, and prove for each that it bites."""

from __future__ import annotations

from typing import Final

from scenario_kit.changes import Engine, NoEffect
from scenario_kit.changes.operations import object_reference
from scenario_kit.errors import InfrastructureError
from scenario_kit.model import Change, CheckResult, Fault, Finding, Reference, Severity, Step
from scenario_kit.trial.checks import await_checks
from scenario_kit.trial.context import TICK, Context

#: Changes of one step get ordinals from step × 1000; those of one fault from × 100.
STEP: Final = 1000
_FAULT: Final = 100
_HELP: Final = 50
#: Seconds of trial time within which Chaos Mesh must claim that a fault is injected.
_CHAOS_DEADLINE: Final = 120


def inject(context: Context, step: Step, index: int) -> tuple[list[Finding], list[CheckResult]]:
    """Execute the faults' changes; a fault that has no effect ends the step, later faults are not injected."""
    checks: list[CheckResult] = []
    for number, fault in enumerate(context.chosen_faults(step.faults)):
        if fault.start_after_seconds:
            context.wait(_start_of(context) + fault.start_after_seconds)
        try:
            _break(context, fault, index * STEP + number * _FAULT)
        except NoEffect as nothing:
            return [_without_effect(fault, nothing.message, "a change of the object")], checks
        results = await_checks(context, fault.effect)
        checks += results
        if failed := [r for r in results if r.answer != "True"]:
            _blame_injector(context, fault)
            return [_without_effect(fault, f"{r.describe}: {r.observed}", r.expected) for r in failed], checks
    return [], checks


def _start_of(context: Context) -> float:
    first = context.injected_at()
    return first if first is not None else context.clock.now()


def _break(context: Context, fault: Fault, ordinal: int) -> None:
    group = f"Fault/{fault.name}"
    for position, change in enumerate(fault.changes):
        if problems := context.health():
            raise InfrastructureError("; ".join(problems))
        context.engine.do(change, ordinal=ordinal + position, group=group)
        context.settle()
        if change.chaos is not None:
            _await_injector(context, change)
    for position, change in enumerate(_reach(fault)):
        context.engine.do(change, ordinal=ordinal + _HELP + position, group=group, causal=False)
        context.settle()


def _reach(fault: Fault) -> list[Change]:
    """Restarts that carry the change to running processes: old pods go, callers reconnect (faults.md rules 1 and 4)."""
    changes = []
    if fault.rollout.drop_old:
        written = {c.target or "" for c in fault.changes if c.patch or c.apply}
        workloads = sorted(w for w in written if w and Reference.parse(w).kind in ("Deployment", "StatefulSet"))
        changes += [Change.from_json({"restart": {"target": w, "dropOld": True}}) for w in workloads]
    if fault.rollout.reconnect == "Callers":
        changes += [Change.from_json({"restart": {"target": w, "dropOld": True}}) for w in fault.callers]
    return changes


def _await_injector(context: Context, change: Change) -> None:
    """Wait until Chaos Mesh claims success: necessary, never sufficient (the effect checks decide)."""
    assert change.chaos is not None
    ref = object_reference(change.chaos, context.namespace)
    deadline = context.clock.now() + _CHAOS_DEADLINE
    while True:
        live = context.cluster.get(ref)
        claim, trouble = Engine.chaos_state(live)
        if claim:
            return
        if context.clock.now() >= deadline:
            raise InfrastructureError(
                f"Chaos Mesh did not inject {ref} within {_CHAOS_DEADLINE} s: {trouble or 'no record'}"
            )
        context.wait(context.clock.now() + (TICK if context.virtual else 1))


def _blame_injector(context: Context, fault: Fault) -> None:
    """An absent effect is only the scenario's doing when what injects it is well."""
    if any(c.chaos for c in fault.changes) and (problems := context.health()):
        raise InfrastructureError("; ".join(problems))


def _without_effect(fault: Fault, observed: str, expected: str) -> Finding:
    return Finding(
        code="SK304",
        severity=Severity.ERROR,
        message=f"injecting '{fault.name}' ({fault.type} on {fault.target}) has no measurable effect",
        observed=observed,
        expected=expected,
        why="a fault that does not bite cannot be the cause of anything",
        fix="choose parameters that differ from what the app already has, or a target with traffic",
    )
