"""Experiments that reached their own duration during another step."""

from __future__ import annotations

from typing import Final

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, TrialStep
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.trial.engine.context import TrialContext

#: Steps whose result means nothing if the fault ended by itself.
_SHOWN: Final = ("expectCleared", "expectStillFiring", "expectUnresolved", "hold")


def explain_expiry(context: TrialContext, step: TrialStep, findings: list[Finding]) -> list[Finding]:
    """Replace the findings of a step if a labelled fault ended by itself in the meantime.

    Alerts that clear then were not repaired. Steps that wait for that end, and benign scenarios, are unaffected.
    """
    if step.kind not in _SHOWN or step.use == "Wait" or step.forever or context.runbook.outcome != "Incident":
        return findings
    if step.kind != "expectCleared" and not findings:
        return findings
    over = [f for f in context.runbook.faults if f.role in LABELLED and context.engine.has_expired(f.group)]
    return [
        build_finding(
            "SK305",
            message=f"fault '{fault.name}' ({fault.type}) ended by itself before '{step}' was decided",
            observed="the `duration` of its experiment is over, and Chaos Mesh has recovered its targets",
            expected="a fault that lasts until it is repaired",
            why="an incident that heals by itself rewards doing nothing",
            fix="remove the duration, or set the outcome to Benign",
        )
        for fault in over
    ] or findings
