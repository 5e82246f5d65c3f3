"""Verify the roles Trigger and Distractor by leaving these faults out (docs/causes-and-outcomes.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from msgspec import structs

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, TrialStep
from scenario_kit.trial.alerts.alert_steps import expect_alerts
from scenario_kit.trial.engine.context import TrialContext

#: Codes for a missing alert, or one on another entity.
_MISSING: Final = ("SK322", "SK326")
#: Codes for a fault without effect, or one that never started.
_ASLEEP: Final = ("SK304", "SK331")


def check_roles(context: TrialContext, step: TrialStep, findings: list[Finding]) -> list[Finding]:
    """Return the findings of an injection. A fault without its trigger is expected to have no effect."""
    if not step.except_:
        return findings
    if _name_role(context, step.except_) == "Trigger":
        return [f for f in findings if f.code not in _ASLEEP]
    return [_report_needed(", ".join(step.except_), f) if f.code in _ASLEEP else f for f in findings]


def expect_alerts_without(context: TrialContext, step: TrialStep, start: float) -> list[Finding]:
    """Check that the incident is incomplete without its triggers (``step.faults``), or complete without its
    distractors.

    A deadline that counts from an omitted fault counts from the latest injection instead.
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
        observed="each alert fired in time, on an app that was not triggered",
        expected="at least one of them missing",
        why="a trigger sets the incident off; this one does not",
        fix="make it a Distractor, or choose a fault that stays dormant until triggered",
    )


def _report_needed(names: str, finding: Finding) -> Finding:
    return build_finding(
        "SK418",
        message=f"without the distractor ({names}) {finding.message}",
        observed=finding.observed,
        expected="the whole incident without it",
        why="a fault that the incident depends on is part of it",
        fix="make it the Trigger, or a Cause",
    )
