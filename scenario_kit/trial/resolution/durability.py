"""Whether a solution lasts: nothing of the incident goes on, nothing comes back, and what was repaired starts again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from scenario_kit.changes import is_settled
from scenario_kit.changes.three_way_restore import RESTARTED
from scenario_kit.errors import Rejected
from scenario_kit.judge.alerts.expectations import label, list_by_class, list_distractor_alerts
from scenario_kit.judge.repair import resolved
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, Object, TrialStep
from scenario_kit.model.authored.alert_rule import find_slowest
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.model.kubernetes.reference import WORKLOADS, Reference, make_object_reference, strip_reference
from scenario_kit.render.objects.config_consumers import find_readers
from scenario_kit.render.objects.lookup import format_reference
from scenario_kit.trial.alerts import extended_wait
from scenario_kit.trial.alerts.alert_steps import await_stretch
from scenario_kit.trial.engine import rollouts
from scenario_kit.trial.engine.checks import answer_check
from scenario_kit.trial.engine.context import TrialContext

#: Seconds that an alert which nobody promised may take to end, beyond what its rule remembers.
_LINGERING_SLACK: Final = 300
#: Seconds in which a workload has to be through a rollout: the default deadline of a Deployment.
_ROLLOUT: Final = 600
#: Seconds for which it has to stay: a program that ends while it starts has done so by then.
_STAYS: Final = 120
#: So many workloads that do not start again are told one by one.
_REPORTED: Final = 3
#: What decides about pods that do not name it: where such a thing was touched, every workload has to start again.
_GOVERNING: Final = frozenset({
    "Namespace", "Node", "ResourceQuota", "LimitRange", "ServiceAccount",
    "PriorityClass", "RuntimeClass", "StorageClass", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
    "MutatingAdmissionPolicy", "ValidatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding",
})  # fmt: skip
#: Conditions of a workload whose message says why pods are missing.
_TROUBLE: Final = (("ReplicaFailure", "True"), ("Progressing", "False"))


def lasts(context: TrialContext, step: TrialStep, index: int, repaired: float) -> list[Finding]:
    """Look on once a solution has resolved the incident; ``repaired`` is when it had been carried out."""
    injected = context.injected_at()
    if injected is None:
        return []
    return (
        _check_recurrence(context, step, injected, repaired)
        or _check_biting(context, step)
        or _check_lingering(context, step, injected, repaired)
        or _check_restart(context, step, index)
    )


def _check_recurrence(context: TrialContext, step: TrialStep, injected: float, repaired: float) -> list[Finding]:
    """Return what was only put off comes back in the time that it took to come."""
    expect, cleared = context.runbook.expect, context.clock.now()
    developed = resolved.measure_development(context.history(), expect, injected, repaired)
    await_stretch(context, repaired, extended_wait.compute_recurrence_time(context, repaired))
    return [
        build_finding(
            "SK412",
            message=f"solution '{step.name}' clears {label(timeline)} only for a while",
            observed=f"it fires again {at - repaired:.0f} s after the repair; at first it took {developed:.0f} s",
            expected="it stays clear",
            why="what comes back was not repaired",
            fix="let the solution repair the cause",
        )
        for timeline, at in resolved.find_returned(context.history(), expect, cleared)
    ]


def _check_biting(context: TrialContext, step: TrialStep) -> list[Finding]:
    """Return faults of which everything that proved them is as true as before, although a repair of them is no
    workaround.
    """
    runbook, now = context.runbook, context.clock.now()
    if runbook.ground_truth.causes_join == "Conjunctive":  # one of several was to be repaired
        return []
    findings = []
    for fault in runbook.faults:
        if fault.role not in LABELLED or fault.mitigation != "Native" or not context.engine.done(fault.group):
            continue
        results = [answer_check(context, check, now) for check in context.engine.placed(fault.effect)]
        if results and all(result.answer == "True" for result in results):
            findings.append(
                build_finding(
                    "SK412",
                    message=f"solution '{step.name}' leaves fault '{fault.name}' ({fault.type}) in effect",
                    observed="; ".join(f"{r.describe}: {r.observed}" for r in results),
                    expected="at least one of its effect checks no longer true",
                    why="an incident whose cause goes on is put off, and comes back when there is no more room",
                    fix="let the solution repair the cause; the type of a fault that can only be worked around "
                    "says `mitigation: Workaround`",
                )
            )
    return findings


def _check_lingering(context: TrialContext, step: TrialStep, injected: float, repaired: float) -> list[Finding]:
    """Check that once the incident is over everything that the fault raised ends, too, as soon as its rule has
    forgotten.
    """
    expect = context.runbook.expect
    own = list_distractor_alerts(expect, context.runbook.faults)
    if not (left := resolved.find_lingering(context.history(), expect, injected, repaired, own)):
        return []
    seconds = max(find_slowest(context.runbook.rules, t.name) for t in left) + _LINGERING_SLACK
    await_stretch(context, context.clock.now(), seconds)
    return [
        build_finding(
            "SK411",
            message=f"solution '{step.name}' leaves {label(timeline)} firing",
            observed=f"the promised alerts cleared; this one, raised by the fault, fires {seconds:.0f} s later still",
            expected="whatever the fault raised ends",
            why="an incident of which a part goes on is not over, whether that part was promised or not",
            fix="let the solution repair that as well; if the alert has nothing to do with the fault, it is background",
        )
        for timeline in resolved.find_lingering(context.history(), expect, injected, repaired, own)
        if timeline.name in {t.name for t in left}
    ]


def _check_restart(context: TrialContext, step: TrialStep, index: int) -> list[Finding]:
    """Restart the workloads that were hit or repaired, as the next release will: damage may show only then.

    Triggers and distractors are taken back before, as far as they can be: what they do to a start is their matter.
    """
    concerned = _list_concerned(context, index)
    for fault in context.runbook.faults:
        if fault.role not in LABELLED:
            context.engine.undo_group(fault.group)
    context.settle()
    whole = [o for o in rollouts.list_live(context, concerned) if is_settled(o)]
    restarted = {(o["kind"], o["metadata"]["name"]) for o in whole}
    at = datetime.fromtimestamp(context.clock.now(), UTC).isoformat(timespec="microseconds")
    # Nothing has to take that back: without a receipt it is several times as fast.
    for ref in sorted(make_object_reference(o, context.namespace) for o in whole):
        try:
            context.cluster.patch(ref, {"spec": {"template": {"metadata": {"annotations": {RESTARTED: at}}}}})
        except Rejected as problem:
            return [_report_unstartable(step, f"{ref.kind}/{ref.name}", problem.message)]
    context.settle()
    left = rollouts.roll_out(context, restarted, _ROLLOUT)
    if not left:
        await_stretch(context, context.clock.now(), _STAYS)
        left = rollouts.list_rolling(context, restarted)
    reported = [(format_reference(o, context.namespace), _explain_rollout(o)) for o in left]
    if len(reported) <= _REPORTED:
        return [_report_unstartable(step, target, why) for target, why in reported]
    some = "; ".join(f"{target}: {why}" for target, why in reported[:_REPORTED])
    names = ", ".join(target for target, _ in reported[_REPORTED:])
    return [
        _report_unstartable(step, f"{len(reported)} of {len(restarted)} workloads", f"{some}; and so on: {names}", "do")
    ]


def _list_concerned(context: TrialContext, index: int) -> set[tuple[str, str]]:
    """List the app's workloads that alerted, that labelled faults or the solutions of this program touch, or that read
    it.

    All of them where it governs pods that do not name it. ``index`` is the step's: what was carried out before it is
    what counts.
    """
    runbook = context.runbook
    carried = [s for s in context.spec.steps[:index] if s.kind == "change" and s.use in ("Solution", "Fix")]
    changes = [c for s in carried for c in runbook.procedure(s.use, s.name).solution.changes]
    faults = [f for f in runbook.faults if f.role in LABELLED]
    texts = [c.target for c in changes if c.target]
    texts += [format_reference(body, context.namespace) for c in changes if (body := c.operation.resource)]
    texts += [text for f in faults for text in (f.target, *(e.ref for e in f.entities))]
    touched = [Reference.parse(text) for text in texts]
    workloads = {(o["kind"], o["metadata"]["name"]) for o in runbook.objects if o["kind"] in WORKLOADS}
    if any(ref.kind in _GOVERNING for ref in touched):
        return workloads
    named = {strip_reference(e.entity) for e in list_by_class(runbook.expect, "MustFire") if e.entity}
    for ref in touched:
        named |= {
            (ref.kind, ref.name),
            *(strip_reference(reader) for reader in find_readers(runbook.objects, ref, context.namespace)),
        }
    return named & workloads


def _explain_rollout(workload: Object) -> str:
    """Explain what a workload says about a rollout that does not get through."""
    if workload["spec"].get("paused"):
        return "it is paused"
    conditions = (workload.get("status") or {}).get("conditions") or ()
    reported = [c.get("message", "") for c in conditions if (c["type"], c["status"]) in _TROUBLE]
    return reported[0] if reported else f"its pods do not come up, or do not stay, within {_ROLLOUT} s"


def _report_unstartable(step: TrialStep, target: str, why: str, does: str = "does") -> Finding:
    return build_finding(
        "SK419",
        message=f"after solution '{step.name}', {target} {does} not start again",
        observed=f"restarted once the incident was over: {why}",
        expected="the next rollout gets through, as before the incident",
    )
