"""Experiments that ended by their own duration while something else was tried."""

from __future__ import annotations

from typing import Final

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding, TrialStep
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.trial.engine.context import TrialContext

#: Steps that show nothing of what was tried where the fault was over anyway.
_SHOWN: Final = ("expectCleared", "expectStillFiring", "expectUnresolved", "hold")


def explain_expiry(context: TrialContext, step: TrialStep, findings: list[Finding]) -> list[Finding]:
    """Explain the findings of a step; that the incident ended by itself, where a labelled fault did meanwhile.

    What clears then was not repaired by anybody. To wait for that end, and what is benign, are another matter.
    """
    if step.kind not in _SHOWN or step.use == "Wait" or step.forever or context.runbook.outcome != "Incident":
        return findings
    if step.kind != "expectCleared" and not findings:
        return findings
    over = [f for f in context.runbook.faults if f.role in LABELLED and context.engine.has_expired(f.group)]
    return [
        build_finding(
            "SK305",
            message=f"fault '{fault.name}' ({fault.type}) ended by itself before '{step}' had shown anything",
            observed="the `duration` of its experiment is over, and Chaos Mesh has recovered its targets",
            expected="a fault that lasts until somebody repairs it",
            why="an incident that heals by itself rewards doing nothing",
            fix="leave the duration out, or let the outcome be Benign",
        )
        for fault in over
    ] or findings
