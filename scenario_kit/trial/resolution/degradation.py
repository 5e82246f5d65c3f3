"""Whether every component serves as before the fault once the incident is resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scenario_kit.judge.alerts.propagation_traffic import TrafficChange
from scenario_kit.judge.repair.degradation import find_degradation
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, TrialStep
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.model.runtime.observation import Work
from scenario_kit.trial.alerts.alert_steps import await_interval
from scenario_kit.trial.engine import noise
from scenario_kit.trial.engine.context import TrialContext
from scenario_kit.trial.investigation.silent_hops import measure_work

#: Factor of the load up to which durations are compared.
_SAME_LOAD = 1.1
#: Seconds until the last look: connections, caches and pools have recovered by then.
_RECOVERY = 1800


class _Traffic(NamedTuple):
    """The work of each component in some minutes, and the load that was offered then."""

    work: Mapping[str, Work]
    load: float


def check_degradation(context: TrialContext, step: TrialStep) -> list[Finding]:
    """Check that no component fails, is slow or is left alone more than before the fault, though no alert says so.

    Only what persists is damage. Before the last look, what a repair may leave is undone, as that may do this.
    """
    injected = context.injected_at()
    if injected is None:
        return []
    healthy = _measure(context, injected)
    if not _find_worse(context, healthy):
        return []
    await_interval(context, context.clock.now(), context.runbook.windows.quiet)
    if not _find_worse(context, healthy):
        return []
    _undo_rest(context)
    await_interval(context, context.clock.now(), _RECOVERY)
    return [_report_degraded(context, step, name, change) for name, change in _find_worse(context, healthy).items()]


def _undo_rest(context: TrialContext) -> None:
    """Undo triggers and distractors, and conjunctive causes: of these, repairing one is enough."""
    joined = context.runbook.ground_truth.causes_join == "Conjunctive"
    for fault in context.runbook.faults:
        if fault.role not in LABELLED:
            context.engine.undo_group(fault.group)
        elif joined or fault.causes_join == "Conjunctive":
            for cause in fault.causes:
                context.engine.undo_object(fault.group, cause.ref)
    context.settle()


def _measure(context: TrialContext, end: float) -> _Traffic:
    """Measure the last minutes before ``end``."""
    start = end - context.runbook.windows.quiet
    return _Traffic(measure_work(context, start, end), noise.measure_offered(context, start, end))


def _find_worse(context: TrialContext, healthy: _Traffic) -> Mapping[str, TrafficChange]:
    """Compare the last minutes with those before the first fault."""
    now = _measure(context, context.clock.now())
    return find_degradation(healthy.work, now.work, same_load=now.load <= _SAME_LOAD * healthy.load)


def _report_degraded(context: TrialContext, step: TrialStep, name: str, change: TrafficChange) -> Finding:
    workload = next((str(c.workload) for c in context.runbook.app.components if c.name == name), name)
    labels = step.use == "Fix"
    done = f"repairing only the labelled causes ({step.name})" if labels else f"solution '{step.name}'"
    return build_finding(
        "SK401" if labels else "SK411",
        message=f"{done} leaves {workload} degraded, although no alert fires",
        observed=str(change),
        expected="every component serves as before the fault",
        why="what the fault breaks is part of the incident, whether or not an alert reports it",
        fix="label what breaks it as well, with a role in the fault type, or let the fault break nothing else"
        if labels
        else "let the solution repair that too, and change only what is broken",
    )
