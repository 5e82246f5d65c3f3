"""What triggers and distractors are claimed to do, tried by leaving them out (docs/causes-and-outcomes.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from msgspec import structs

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, TrialStep
from scenario_kit.trial.alerts.alert_steps import expect_alerts
from scenario_kit.trial.engine.context import TrialContext

#: What says that an alert did not come, or came elsewhere.
_MISSING: Final = ("SK322", "SK326")
#: What says that a fault had no effect, or never began.
_ASLEEP: Final = ("SK304", "SK331")


def check_roles(context: TrialContext, step: TrialStep, findings: list[Finding]) -> list[Finding]:
    """Return what is wrong with an injection. Without its trigger a fault may well have no effect: that is
    the claim.
    """
    if not step.except_:
        return findings
    if _name_role(context, step.except_) == "Trigger":
        return [f for f in findings if f.code not in _ASLEEP]
    return [_report_needed(", ".join(step.except_), f) if f.code in _ASLEEP else f for f in findings]


def expect_alerts_without(context: TrialContext, step: TrialStep, start: float) -> list[Finding]:
    """Check that the incident does not come, or not all of it, without its triggers (``step.faults``); or comes without
    distractors.

    An alert that counts from the injection of what is left out counts from the latest one instead.
    """
    runbook = context.runbook
    alerts = tuple(structs.replace(e, after="") if e.after in step.faults else e for e in runbook.expect.alerts)
    expect = structs.replace(runbook.expect, alerts=alerts)
    looking = replace(context, runbook=structs.replace(runbook, expect=expect), beside=dict)
    missing = [f for f in expect_alerts(looking, start) if f.code in _MISSING]
    names = ", ".join(step.faults)
    if _name_role(context, step.faults) == "Distractor":
        return [_report_needed(names, finding) for finding in missing]
    return [] if missing else [_report_idle(names)]


def _name_role(context: TrialContext, names: tuple[str, ...]) -> str:
    return context.runbook.fault(names[0]).role


def _report_idle(names: str) -> Finding:
    return build_finding(
        "SK418",
        message=f"everything that must fire fires without the trigger ({names})",
        observed="each alert in time, on an app that was not triggered",
        expected="at least one of them missing",
        why="a trigger sets the incident off; who says that this one did would be wrong",
        fix="let it be a Distractor, or choose a fault that sleeps until the trigger comes",
    )


def _report_needed(names: str, finding: Finding) -> Finding:
    return build_finding(
        "SK418",
        message=f"without the distractor ({names}) {finding.message}",
        observed=finding.observed,
        expected="the whole incident without it",
        why="what the incident does not come without has a part in it",
        fix="let it be the Trigger, or a Cause",
    )
