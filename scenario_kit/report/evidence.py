"""From a report to the evidence that is committed beside the scenario."""

from __future__ import annotations

from typing import Final

from scenario_kit.campaign import Validation
from scenario_kit.errors import UsageError
from scenario_kit.model import Verdict
from scenario_kit.model.results.evidence import Evidence, Onset, Tier, VersionKey
from scenario_kit.report.document import Report

#: Plans whose pass is evidence; one repeat is none.
PLANS: Final = ("standard", "thorough")
_TIERS: Final[dict[str, Tier]] = {"Twin": "simulated", "RealNode": "reproduced", "Kind": "reproduced"}


def build_evidence(report: Report, digest: str, key: VersionKey) -> Evidence:
    """Build the evidence that a report gives for a scenario whose digest is now ``digest``.

    Raises:
        UsageError: it gives none: it did not pass, its plan shows too little, or the scenario is another one by now.
    """
    validation = report.validation
    again = f"scenario-kit verify {validation.path or 'PATH'} --plan standard"
    if validation.verdict != Verdict.PASS:
        reported = f"the run of {validation.scenario} ended with {validation.verdict}; only a pass is evidence"
        raise UsageError(reported, fix="look at its findings: scenario-kit report RUN")
    if validation.plan not in PLANS or validation.statistics is None:
        reported = f"the plan '{validation.plan}' shows too little to be recorded"
        raise UsageError(reported, fix=again)
    if validation.digest != digest:
        reported = (
            f"the run is of {validation.scenario} with the digest {validation.digest[:12]}, which is now {digest[:12]}"
        )
        raise UsageError(reported, fix=again)
    numbers = validation.statistics
    return Evidence(
        scenario=validation.scenario,
        digest=digest,
        key=key,
        plan=validation.plan,
        n=validation.n,
        failures=validation.failures,
        at_least=round(numbers.at_least, 4),
        claims=round(numbers.claims, 4),
        tier=_TIERS[validation.data_plane],
        data_plane=validation.data_plane,
        alerts=_list_onsets(validation),
        trials=len(validation.trials),
        minutes=round(validation.wall_seconds / 60, 1),
        date=report.created[:10],
        kit=report.kit,
        difficulty=validation.difficulty,
        fingerprint=validation.fingerprint,
    )


def _list_onsets(validation: Validation) -> tuple[Onset, ...]:
    """List the alerts of the incident: those that must fire, and whichever others did."""
    alerts = validation.statistics.alerts if validation.statistics else ()
    return tuple(
        Onset(
            alert=a.alert,
            declared=a.declared,
            fired=a.fired,
            n=a.n,
            median_seconds=a.median_seconds,
            p95_seconds=a.p95_seconds,
            within_seconds=a.within_seconds,
        )
        for a in alerts
        if a.fired or a.declared == "MustFire"
    )
