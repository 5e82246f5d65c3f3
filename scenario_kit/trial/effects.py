"""What shows the effect of a fault whose own checks failed: what ends, fails or falls silent since it was injected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.judge.effects import describe_crashes, describe_losses, list_affected
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Check, CheckResult, Fault, Finding, Reference
from scenario_kit.model.authored.check import ObjectCheck
from scenario_kit.model.kubernetes.reference import WORKLOADS, strip_group, strip_reference
from scenario_kit.observe import symptoms
from scenario_kit.observe.entities import find_by_name
from scenario_kit.trial.engine.context import TRAFFIC_WINDOW, TrialContext
from scenario_kit.trial.investigation.silent_hops import measure_work
from scenario_kit.trial.investigation.symptoms import list_pods

#: The last seconds before the decision in which trouble must show: what a rollout brings with it is over by then.
_RECENT: Final = 120
#: How many pieces of evidence a finding repeats.
_MOST: Final = 4


def find_effects(
    context: TrialContext, fault: Fault, failed: Sequence[Check], since: float, *, beside: bool
) -> list[str]:
    """Return what shows that a fault took effect although these checks failed; nothing where nothing shows it.

    A field of an object has no substitute: where what the fault writes is not there, nothing was injected.

    Args:
        since: when the fault was injected.
        beside: whether other faults are in force, so that pods of the target that cannot run hide an effect.

    Raises:
        InfrastructureError: Prometheus or the API server does not answer.
    """
    if any(check.object is not None and not _asks_controller(check.object) for check in failed):
        return []
    return _collect(context, fault, since, beside=beside)


def _asks_controller(check: ObjectCheck) -> bool:
    """Check whether a check asks what a controller reports of a workload, which changes while its pods come and go."""
    return check.path.startswith("status") and Reference.parse(check.ref).kind in (*WORKLOADS, "Pod")


def _collect(context: TrialContext, fault: Fault, since: float, *, beside: bool) -> list[str]:
    app, now = context.runbook.app, context.clock.now()
    names = list_affected(app, _list_hit(context, fault) or [c.name for c in app.components])
    workloads = {strip_group(c.workload) for c in app.components if c.name in names}
    running = [(find_by_name(pod["metadata"]["name"], app), pod) for pod in list_pods(context)]
    crashed = describe_crashes([each for each in running if each[0] in workloads], since)
    first = context.injected_at() or since
    before = measure_work(context, first - TRAFFIC_WINDOW, first)
    during = measure_work(context, max(since, now - _RECENT), now)
    waiting = symptoms.explain_hindered((p for _, p in running), app, strip_group(fault.target)) if beside else []
    return [*crashed, *describe_losses(names, before, during), *waiting]


def _list_hit(context: TrialContext, fault: Fault) -> list[str]:
    """Return the components that a fault touches, by its target, what it writes and what it calls a cause or victim."""
    refs = (fault.target, *(e.ref for e in fault.entities), *(c.target for c in fault.changes))
    touched = {strip_reference(ref) for ref in refs if ref}
    return [
        c.name
        for c in context.runbook.app.components
        if strip_reference(c.workload) in touched or (c.service and ("Service", c.service) in touched)
    ]


def warn(fault: Fault, failed: Sequence[CheckResult], seen: Sequence[str], others: Sequence[str]) -> Finding:
    """Return the remark on a fault whose effect its checks do not show; ``others`` took effect and may be why."""
    return _warn_of_hidden(fault, failed, seen, others) if others else _warn_of_blind(fault, failed, seen)


def _warn_of_blind(fault: Fault, failed: Sequence[CheckResult], seen: Sequence[str]) -> Finding:
    """Return the remark on a fault that takes effect where its check does not look."""
    return build_finding(
        "SK332",
        message=f"'{fault.name}' ({fault.type} on {fault.target}) takes effect where its check does not look",
        observed=f"{_describe(failed)}; and yet: {_join(seen)}",
        expected="an effect check that holds",
        why="the check says that nothing happened although something did",
        fix=f"let `effect` of fault type '{fault.type}' ask for that",
    )


def _warn_of_hidden(fault: Fault, failed: Sequence[CheckResult], seen: Sequence[str], others: Sequence[str]) -> Finding:
    """Return the remark on a fault whose effect cannot be told from that of another one in force."""
    named = " and ".join(f"'{name}'" for name in others)
    return build_finding(
        "SK333",
        message=f"whether '{fault.name}' ({fault.type} on {fault.target}) takes effect is hidden by {named}",
        observed=f"{_describe(failed)}; {_join(seen)}",
        expected="an effect check that holds while the other is in force, too",
        why="only the trials that repair or leave out the other one show what this one does",
        fix=f"let '{fault.name}' begin before {named}, or drop it if nothing is left for it to break",
    )


def _describe(failed: Sequence[CheckResult]) -> str:
    return "; ".join(f"{result.describe}: {result.observed}" for result in failed)


def _join(seen: Sequence[str]) -> str:
    more = len(seen) - _MOST
    return "; ".join(seen[:_MOST]) + (f"; {more} more" if more > 0 else "")
