"""Decoys after which no alert fires although they repair nothing: they took away what shows the incident."""

from __future__ import annotations

import msgspec

from scenario_kit.model import Finding, TrialStep
from scenario_kit.trial.engine.context import TrialContext
from scenario_kit.trial.resolution.app_integrity import check_integrity
from scenario_kit.trial.resolution.resolve import judge_guards

#: Maximum number of reasons in a finding.
_REPORTED = 3


def explain_hiding(context: TrialContext, step: TrialStep, findings: list[Finding]) -> list[Finding]:
    """Add to a decoy that cleared the alerts what it took away; it is still in force.

    Such a decoy is no repair, so listing it as a solution would be wrong.
    """
    if step.kind != "expectStillFiring" or step.use != "Decoy" or not findings:
        return findings
    reasons = [*judge_guards(context).reasons, *check_integrity(context).reasons]
    if not reasons:
        return findings
    return [
        msgspec.structs.replace(
            finding,
            observed=f"{'; '.join(reasons[:_REPORTED])}; {finding.observed}",
            why="it took away what shows the incident, and is no repair",
            fix="choose a decoy that leaves load, telemetry and the alerting workloads as they are",
        )
        for finding in findings
    ]
