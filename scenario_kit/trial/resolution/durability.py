"""Whether a solution lasts: no alert lingers or recurs, and repaired workloads survive a restart."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from scenario_kit.changes import is_settled
from scenario_kit.changes.three_way_restore import RESTARTED
from scenario_kit.errors import Rejected
from scenario_kit.judge.alerts.expectations import list_by_class, list_distractor_alerts
from scenario_kit.judge.repair import resolution
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Object, TrialStep
from scenario_kit.model.authored.alert_rule import find_slowest, name_alert
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.kubernetes.reference import WORKLOADS, make_object_reference
from scenario_kit.render.objects.config_consumers import find_readers
from scenario_kit.render.objects.lookup import format_reference
from scenario_kit.trial.alerts import extended_wait
from scenario_kit.trial.alerts.alert_steps import await_interval
from scenario_kit.trial.engine import rollouts
from scenario_kit.trial.engine.checks import answer_check, answer_signs
from scenario_kit.trial.engine.context import TrialContext
from scenario_kit.trial.resolution.degradation import check_degradation

#: Seconds beyond its rule's range within which an undeclared alert must end.
_LINGERING_SLACK: Final = 300
#: Rollout deadline in seconds: the default progressDeadlineSeconds of a Deployment.
_ROLLOUT: Final = 600
#: Seconds for which it must stay available; a program that fails at startup has failed by then.
_STAYS: Final = 120
#: Maximum number of workloads reported individually.
_REPORTED: Final = 3
#: Kinds that affect pods without being referenced by them; if one was touched, every workload is restarted.
_GOVERNING: Final = frozenset({
    "Namespace", "Node", "ResourceQuota", "LimitRange", "ServiceAccount",
    "PriorityClass", "RuntimeClass", "StorageClass", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
    "MutatingAdmissionPolicy", "ValidatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding",
})  # fmt: skip
#: Conditions of a workload whose message explains missing pods.
_TROUBLE: Final = (("ReplicaFailure", "True"), ("Progressing", "False"))


def lasts(context: TrialContext, step: TrialStep, index: int, *, repaired: float, cleared: float) -> list[Finding]:
    """Check that a resolved incident stays resolved.

    ``repaired`` is when the solution was executed, ``cleared`` when the incident was found resolved.
    """
    injected = context.injected_at()
    if injected is None:
        return []
    return (
        _check_recurrence(context, step, injected, repaired=repaired, cleared=cleared)
        or _check_biting(context, step)
        or _check_new(context, step, injected, repaired)
        or check_lingering(context, step, repaired)
        or check_degradation(context, step)
        or _check_restart(context, step, index)
    )


def _check_recurrence(
    context: TrialContext, step: TrialStep, injected: float, *, repaired: float, cleared: float
) -> list[Finding]:
    """Check that alerts do not recur within the time that they took to develop."""
    expect = context.runbook.expect
    developed = resolution.measure_development(context.history(), expect, injected, repaired)
    await_interval(context, repaired, extended_wait.compute_recurrence_time(context, repaired))
    if expect.silent:
        await_interval(context, cleared, context.runbook.windows.clear)
    returned = [each for each in answer_signs(context) if each.answer == "True"]
    found = [
        build_finding(
            "SK412",
            message=f"after solution '{step.name}' the incident is back: {each.describe}",
            observed=each.observed,
            expected="no longer so",
            why="an incident that recurs was not repaired",
            fix="let the solution repair the cause",
        )
        for each in returned
    ]
    return found + [
        build_finding(
            "SK412",
            message=f"solution '{step.name}' clears {name_alert(timeline)} only for a while",
            observed=f"it fires again {at - repaired:.0f} s after the repair; at first it took {developed:.0f} s",
            expected="it stays clear",
            why="an incident that recurs was not repaired",
            fix="let the solution repair the cause",
        )
        for timeline, at in resolution.find_returned(context.history(), expect, cleared)
    ]


def _check_biting(context: TrialContext, step: TrialStep) -> list[Finding]:
    """Report faults whose effect checks all still hold, unless only a workaround is possible."""
    runbook, now = context.runbook, context.clock.now()
    if runbook.ground_truth.causes_join == "Conjunctive":  # repairing any one of them is enough
        return []
    findings = []
    for fault in runbook.faults:
        if fault.role not in LABELLED or fault.mitigation != "Native" or not context.engine.list_active(fault.group):
            continue
        results = [answer_check(context, check, now) for check in context.engine.resolve_checks(fault.effect)]
        if results and all(result.answer == "True" for result in results):
            findings.append(
                build_finding(
                    "SK412",
                    message=f"solution '{step.name}' leaves fault '{fault.name}' ({fault.type}) in effect",
                    observed="; ".join(f"{r.describe}: {r.observed}" for r in results),
                    expected="at least one of its effect checks no longer true",
                    why="an incident whose cause persists is only postponed",
                    fix="let the solution repair the cause; the type of a fault that can only be worked around "
                    "declares `mitigation: Workaround`",
                )
            )
    return findings


def _check_new(context: TrialContext, step: TrialStep, injected: float, repaired: float) -> list[Finding]:
    """Check that the repair raises no alert, not even one whose rule takes longer than the expected alerts to clear."""
    runbook = context.runbook
    own = list_distractor_alerts(runbook.expect, runbook.faults)
    await_interval(context, repaired, find_slowest(runbook.rules) + 2 * GRID_SECONDS)
    if not (new := resolution.find_new(context.history(), runbook.expect, injected, repaired, own)):
        return []
    names = {timeline.name for timeline in new}
    seconds = max(find_slowest(runbook.rules, name) for name in names) + _LINGERING_SLACK
    await_interval(context, context.clock.now(), seconds)
    return [
        build_finding(
            "SK411",
            message=f"{name_alert(timeline)} fires after solution '{step.name}', and did not before",
            observed=f"the expected alerts cleared; this one still fires {context.clock.now() - repaired:.0f} s later",
            expected="no alert that the repair raises",
            why="a repair that breaks something else ends no incident",
            fix="let the solution change only what is broken",
        )
        for timeline in resolution.find_new(context.history(), runbook.expect, injected, repaired, own)
        if timeline.name in names
    ]


def check_lingering(context: TrialContext, step: TrialStep, repaired: float) -> list[Finding]:
    """Check that every alert raised by the fault ends once its rule's range has passed.

    If only the labelled causes were repaired, another one is missing among them.
    """
    expect, injected = context.runbook.expect, context.injected_at()
    own = list_distractor_alerts(expect, context.runbook.faults)
    if injected is None or not (left := resolution.find_lingering(context.history(), expect, injected, repaired, own)):
        return []
    seconds = max(find_slowest(context.runbook.rules, t.name) for t in left) + _LINGERING_SLACK
    await_interval(context, context.clock.now(), seconds)
    labels = step.use == "Fix"
    done = f"repairing only the labelled causes ({step.name})" if labels else f"solution '{step.name}'"
    fix = (
        "label what raises it as well, with a role in the fault type" if labels else "let the solution repair that too"
    )
    return [
        build_finding(
            "SK401" if labels else "SK411",
            message=f"{done} leaves {name_alert(timeline)} firing",
            observed=f"the expected alerts cleared; this one, raised by the fault, still fires {seconds:.0f} s later",
            expected="every alert raised by the fault ends",
            why="an incident is not over while any of its alerts fires, expected or not",
            fix=f"{fix}; if the alert is unrelated to the fault, declare it as background",
        )
        for timeline in resolution.find_lingering(context.history(), expect, injected, repaired, own)
        if timeline.name in {t.name for t in left}
    ]


def _check_restart(context: TrialContext, step: TrialStep, index: int) -> list[Finding]:
    """Restart the affected and repaired workloads as the next release would: damage may show only then.

    Triggers and distractors are undone first, if possible, so that they do not affect the restart.
    """
    concerned = _list_concerned(context, index)
    for fault in context.runbook.faults:
        if fault.role not in LABELLED:
            context.engine.undo_group(fault.group)
    context.settle()
    whole = [o for o in rollouts.list_live(context, concerned) if is_settled(o)]
    restarted = {(o["kind"], o["metadata"]["name"]) for o in whole}
    at = datetime.fromtimestamp(context.clock.now(), UTC).isoformat(timespec="microseconds")
    # Restarts need no undo, and are several times faster without receipts.
    for ref in sorted((make_object_reference(o, context.namespace) for o in whole), key=lambda r: (r.kind, r.name)):
        try:
            context.cluster.patch(ref, {"spec": {"template": {"metadata": {"annotations": {RESTARTED: at}}}}})
        except Rejected as error:
            return [_report_unstartable(step, f"{ref.kind}/{ref.name}", error.message)]
    context.settle()
    left = rollouts.roll_out(context, restarted, _ROLLOUT)
    if not left:
        await_interval(context, context.clock.now(), _STAYS)
        left = rollouts.list_rolling(context, restarted)
    reported = [(format_reference(o, context.namespace), _explain_rollout(o)) for o in left]
    if len(reported) <= _REPORTED:
        return [_report_unstartable(step, target, why) for target, why in reported]
    some = "; ".join(f"{target}: {why}" for target, why in reported[:_REPORTED])
    names = ", ".join(target for target, _ in reported[_REPORTED:])
    return [
        _report_unstartable(step, f"{len(reported)} of {len(restarted)} workloads", f"{some}; likewise {names}", "do")
    ]


def _list_concerned(context: TrialContext, index: int) -> set[tuple[str, str]]:
    """List the app's workloads that alerted, or that use objects touched by labelled faults or executed solutions.

    All workloads if such an object affects pods without being referenced. Only solutions executed before step ``index``
    count.
    """
    runbook = context.runbook
    carried = [s for s in context.spec.steps[:index] if s.kind == "change" and s.use in ("Solution", "Fix")]
    changes = [c for s in carried for c in runbook.procedure(s.use, s.name).solution.changes]
    faults = [f for f in runbook.faults if f.role in LABELLED]
    touched = [ref for c in changes if (ref := c.operation.ref)]
    touched += [format_reference(body, context.namespace) for c in changes if (body := c.operation.resource)]
    touched += [ref for f in faults for ref in (f.target, *(e.ref for e in f.entities))]
    workloads = {(o["kind"], o["metadata"]["name"]) for o in runbook.objects if o["kind"] in WORKLOADS}
    if any(ref.kind in _GOVERNING for ref in touched):
        return workloads
    named = {e.entity.bare for e in list_by_class(runbook.expect, "MustFire") if e.entity}
    for ref in touched:
        named |= {
            (ref.kind, ref.name),
            *(reader.bare for reader in find_readers(runbook.objects, ref, context.namespace)),
        }
    return named & workloads


def _explain_rollout(workload: Object) -> str:
    """Explain from its conditions why a workload's rollout does not complete."""
    if workload["spec"].get("paused"):
        return "it is paused"
    conditions = (workload.get("status") or {}).get("conditions") or ()
    reported = [c.get("message", "") for c in conditions if (c["type"], c["status"]) in _TROUBLE]
    return reported[0] if reported else f"its pods do not start, or do not stay up, within {_ROLLOUT} s"


def _report_unstartable(step: TrialStep, target: str, why: str, does: str = "does") -> Finding:
    return build_finding(
        "SK419",
        message=f"after solution '{step.name}', {target} {does} not start again",
        observed=f"restarted once the incident was over: {why}",
        expected="the next rollout completes, as before the incident",
    )
