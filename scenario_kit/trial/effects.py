"""Evidence of a fault's effect beyond its own checks: crashes, errors and lost traffic since the injection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.judge.effects import describe_crashes, describe_losses, list_affected
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Check, CheckResult, Fault, Finding
from scenario_kit.model.authored.check import ObjectCheck
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.shortening import shorten_list
from scenario_kit.observe import symptoms
from scenario_kit.observe.entities import find_by_name
from scenario_kit.trial.engine.context import TRAFFIC_WINDOW, TrialContext
from scenario_kit.trial.investigation.silent_hops import measure_work
from scenario_kit.trial.investigation.symptoms import list_pods

#: Seconds before the decision in which evidence counts; side effects of a rollout are over by then.
_RECENT: Final = 120
#: Maximum number of pieces of evidence in a finding.
_MOST: Final = 4


def find_effects(
    context: TrialContext, fault: Fault, failed: Sequence[Check], since: float, *, beside: bool
) -> list[str]:
    """Return evidence that a fault took effect although these checks failed; empty if there is none.

    There is no other evidence for a field that the fault writes: if it is missing, nothing was injected.

    Args:
        since: when the fault was injected.
        beside: whether other faults are in force; pods of the target that cannot run then hide an effect.

    Raises:
        InfrastructureError: Prometheus or the API server does not answer.
    """
    if any(check.object is not None and not _asks_controller(check.object) for check in failed):
        return []
    return _collect(context, fault, since, beside=beside)


def _asks_controller(check: ObjectCheck) -> bool:
    """Return whether a check reads the status of a workload or pod, which changes as pods come and go."""
    return check.path.startswith("status") and check.ref.kind in (*WORKLOADS, "Pod")


def _collect(context: TrialContext, fault: Fault, since: float, *, beside: bool) -> list[str]:
    app, now = context.runbook.app, context.clock.now()
    names = list_affected(app, _list_hit(context, fault) or [c.name for c in app.components])
    workloads = {c.workload.groupless for c in app.components if c.name in names}
    running = [(find_by_name(pod["metadata"]["name"], app), pod) for pod in list_pods(context)]
    crashed = describe_crashes([each for each in running if each[0] in workloads], since)
    first = context.injected_at() or since
    before = measure_work(context, first - TRAFFIC_WINDOW, first)
    during = measure_work(context, max(since, now - _RECENT), now)
    waiting = symptoms.explain_hindered((p for _, p in running), app, fault.target.groupless) if beside else []
    return [*crashed, *describe_losses(names, before, during), *waiting]


def _list_hit(context: TrialContext, fault: Fault) -> list[str]:
    """Return the components that a fault touches: its target, the objects it writes, and its entities."""
    refs = (fault.target, *(e.ref for e in fault.entities), *(c.operation.ref for c in fault.changes))
    touched = {ref.bare for ref in refs if ref}
    return [
        c.name
        for c in context.runbook.app.components
        if c.workload.bare in touched or (c.service and ("Service", c.service) in touched)
    ]


def warn(fault: Fault, failed: Sequence[CheckResult], seen: Sequence[str], others: Sequence[str]) -> Finding:
    """Report a fault whose effect its checks miss; ``others`` are faults in effect that may hide it."""
    return _warn_of_hidden(fault, failed, seen, others) if others else _warn_of_blind(fault, failed, seen)


def _warn_of_blind(fault: Fault, failed: Sequence[CheckResult], seen: Sequence[str]) -> Finding:
    """Report a fault whose checks miss its effect."""
    return build_finding(
        "SK332",
        message=f"'{fault.name}' ({fault.type} on {fault.target}) takes effect, but its checks do not show it",
        observed=f"{_describe(failed)}; but {shorten_list(seen, _MOST, '; ')}",
        expected="an effect check that holds",
        why="the checks report no effect although there is one",
        fix=f"let `effect` of fault type '{fault.type}' check for that",
    )


def _warn_of_hidden(fault: Fault, failed: Sequence[CheckResult], seen: Sequence[str], others: Sequence[str]) -> Finding:
    """Report a fault whose effect cannot be distinguished from that of another one in force."""
    named = " and ".join(f"'{name}'" for name in others)
    return build_finding(
        "SK333",
        message=f"the effect of '{fault.name}' ({fault.type} on {fault.target}) is hidden by {named}",
        observed=f"{_describe(failed)}; {shorten_list(seen, _MOST, '; ')}",
        expected="an effect check that also holds while the other is in force",
        why="only trials that repair or omit the other fault show the effect of this one",
        fix=f"start '{fault.name}' before {named}, or drop it if it has no effect of its own",
    )


def _describe(failed: Sequence[CheckResult]) -> str:
    return "; ".join(f"{result.describe}: {result.observed}" for result in failed)
