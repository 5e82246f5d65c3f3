"""Build the evidence that is committed next to a scenario from a report."""

from __future__ import annotations

from datetime import date
from typing import Final

from scenario_kit.campaign import Validation
from scenario_kit.errors import UsageError
from scenario_kit.model import Verdict
from scenario_kit.model.results.evidence import Evidence, Onset, Tier, VersionKey
from scenario_kit.report.document import Report

#: Plans whose pass counts as evidence; a single repeat does not.
PLANS: Final = ("standard", "thorough")
_TIERS: Final[dict[str, Tier]] = {"Twin": "simulated", "RealNode": "reproduced", "Kind": "reproduced"}


def build_evidence(report: Report, digest: str, key: VersionKey) -> Evidence:
    """Build the evidence for a scenario with the current ``digest``.

    Raises:
        UsageError: the run did not pass, its plan is too weak, or the scenario has changed since.
    """
    validation = report.validation
    again = f"scenario-kit verify {validation.path or 'PATH'} --plan standard"
    if validation.verdict != Verdict.PASS:
        message = f"the run of {validation.scenario} ended with {validation.verdict}; only a pass is evidence"
        raise UsageError(message, fix="inspect its findings: scenario-kit report RUN")
    if validation.plan not in PLANS or validation.statistics is None:
        raise UsageError(f"plan '{validation.plan}' is too weak to be recorded as evidence", fix=again)
    if validation.digest != digest:
        message = f"{validation.scenario} has changed since the run: {validation.digest[:12]} is now {digest[:12]}"
        raise UsageError(message, fix=again)
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
        tier=_find_tier(validation),
        data_plane=validation.data_plane,
        alerts=_list_onsets(validation),
        trials=len(validation.trials),
        minutes=round(validation.wall_seconds / 60, 1),
        date=date.fromisoformat(report.created[:10]),
        kit=report.kit,
        difficulty=validation.difficulty,
        fingerprint=validation.fingerprint,
    )


def _find_tier(validation: Validation) -> Tier:
    if validation.data_plane not in _TIERS:
        known = ", ".join(_TIERS)
        raise UsageError(
            f"the run of {validation.scenario} names the data plane '{validation.data_plane}'; known are {known}",
            fix="record it with the version of scenario-kit that made the run",
        )
    return _TIERS[validation.data_plane]


def refuse_weaker_evidence(present: Evidence | None, new: Evidence) -> None:
    """Refuse to replace evidence of real containers by that of a simulated run of the same incident.

    Raises:
        UsageError: only the present evidence has the tier ``reproduced``.
    """
    if present is None or present.tier != "reproduced" or new.tier == "reproduced" or present.digest != new.digest:
        return
    raise UsageError(
        f"the evidence of {new.scenario} was reproduced on {present.data_plane}; a run on {new.data_plane} is weaker",
        fix="keep it, or delete evidence.json first",
    )


def _list_onsets(validation: Validation) -> tuple[Onset, ...]:
    """List the alerts that must fire and all others that fired."""
    alerts = validation.statistics.alerts if validation.statistics else ()
    return tuple(
        Onset(**{name: getattr(alert, name) for name in Onset.__struct_fields__})
        for alert in alerts
        if alert.fired or alert.declared == "MustFire"
    )
