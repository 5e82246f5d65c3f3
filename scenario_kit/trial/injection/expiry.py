"""Faults that ended by themselves during another step: by an experiment's duration, or a Job that is over."""

from __future__ import annotations

from typing import Final

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Fault, Finding, Object, TrialStep
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.trial.engine.context import TrialContext

#: Steps whose result means nothing if the fault ended by itself.
_SHOWN: Final = ("expectCleared", "expectStillFiring", "expectUnresolved", "hold")
#: Declared persistence of faults that do not end by themselves.
_LASTING: Final = ("Object", "Workload")
#: Kinds whose objects end by themselves, their conditions then, and the reason if a limit of time ended them.
_ENDING: Final = ("Job", "Pod")
_OVER: Final = ("Complete", "Failed", "FailureTarget")
_DEADLINE: Final = "DeadlineExceeded"


def explain_expiry(context: TrialContext, step: TrialStep, findings: list[Finding]) -> list[Finding]:
    """Replace the findings of a step if a labelled fault ended by itself in the meantime.

    Alerts that clear then were not repaired. Steps that wait for that end, and benign scenarios, are unaffected.
    """
    if step.kind not in _SHOWN or step.use == "Wait" or step.forever or context.runbook.outcome != "Incident":
        return findings
    if step.kind != "expectCleared" and not findings:
        return findings
    over = [(f, how) for f in context.runbook.faults if f.role in LABELLED and (how := _explain_end(context, f))]
    return [
        build_finding(
            "SK305",
            message=f"fault '{fault.name}' ({fault.type}) ended by itself before '{step}' was decided",
            observed=how,
            expected="a fault that lasts until it is repaired",
            why="an incident that heals by itself rewards doing nothing",
            fix="remove the limit of its time, or set the outcome to Benign",
        )
        for fault, how in over
    ] or findings


def _explain_end(context: TrialContext, fault: Fault) -> str:
    """Explain how a fault ended by itself; empty if it did not.

    A Job or pod that is the cause ends a fault of which the type says that it lasts. One that failed otherwise, or that
    is gone, may have been ended by the step.
    """
    if context.engine.has_expired(fault.group):
        return "the `duration` of its experiment is over, and Chaos Mesh has recovered its targets"
    if fault.persistence not in _LASTING:
        return ""
    causes = {cause.ref.bare for cause in fault.causes}
    made = [e.ref for r in context.engine.list_receipts(fault.group) for e in r.entries if e.prior is None]
    for ref in (ref for ref in made if ref.kind in _ENDING and ref.bare in causes):
        if (live := context.cluster.get(ref)) is not None and (reason := _find_end(live)):
            return f"{ref.kind}/{ref.name} is over by itself: {reason}"
    return ""


def _find_end(obj: Object) -> str:
    """Return why a Job or pod is over, if it completed or reached its deadline; else an empty text.

    A Job whose pod reached a deadline of its own only says that too many pods failed.
    """
    status = obj.get("status") or {}
    over = [c for c in status.get("conditions") or () if c["type"] in _OVER and c["status"] == "True"]
    reasons = {str(c.get("reason", "")) for c in over if c["type"] != "Complete"} | {str(status.get("reason", ""))}
    if _DEADLINE in reasons or (over and read_pod_spec(obj).get("activeDeadlineSeconds")):
        return "its activeDeadlineSeconds have passed"
    return (
        "it has completed" if status.get("phase") == "Succeeded" or any(c["type"] == "Complete" for c in over) else ""
    )
