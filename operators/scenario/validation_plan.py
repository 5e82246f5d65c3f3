"""Plan the next action and the status of a Validation. Pure: plan × its trials × now → action and status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from operators.scenario.plan import Refusal, Truth
from scenario_kit.campaign.planning.plans import Plan, PlannedTrial
from scenario_kit.campaign.planning.scheduler import Move, ObservedTrial, advance
from scenario_kit.campaign.results.result import Validation
from scenario_kit.model import Finding, Value, Verdict
from scenario_kit.trial import Condition, ConditionRow, set_conditions

#: Conditions of a Validation, all set by the first reconciliation.
CONDITIONS: Final = ("Accepted", "Succeeded", "Ready")
#: Maximum number of findings in a status; the report has all of them.
_MAX_FINDINGS: Final = 64
_MAX_MESSAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class Begin:
    """Create these trials."""

    trials: tuple[PlannedTrial, ...]


@dataclass(frozen=True, slots=True)
class Conclude:
    """Conclude from these trials; ``because`` is why unfinished ones were abandoned."""

    trials: tuple[PlannedTrial, ...]
    because: str = ""


@dataclass(frozen=True, slots=True)
class ShowCampaign:
    """Only update the status; ``because`` is why no trial starts, ``reason`` is its PascalCase form."""

    because: str = ""
    reason: str = "InfrastructureTrouble"


Action = Begin | Conclude | ShowCampaign


def decide(
    plan: Plan,
    planned: Sequence[PlannedTrial],
    seen: Sequence[ObservedTrial],
    *,
    parallel: int,
    problems: str = "",
    spent: str = "",
) -> tuple[Action, Move]:
    """Return the next action of a campaign, and the trials planned so far.

    Nothing starts while infrastructure has ``problems``; once a budget is ``spent``, unfinished trials are abandoned.
    """
    if spent:
        ended = [s for s in seen if s.outcome]
        move = advance(plan, planned, ended, parallel=0, give_up=True)
        return Conclude(_select_reported(move, ended), spent), move
    move = advance(plan, planned, seen, parallel=0 if problems else parallel)
    if move.over:
        return Conclude(_select_reported(move, seen)), move
    return (Begin(move.begin) if move.begin else ShowCampaign(problems)), move


def _select_reported(move: Move, seen: Sequence[ObservedTrial]) -> tuple[PlannedTrial, ...]:
    """Select the trials to report; repeats that were not needed are left out."""
    known = {s.purpose for s in seen} | {p.purpose for p in move.missing}
    return tuple(p for p in move.every if p.purpose in known)


class CampaignView(Value, frozen=True, kw_only=True):
    """The status of a campaign; ``trials`` are name, purpose and outcome (or ``Running``), in plan order."""

    planned: int
    trials: tuple[tuple[str, str, str], ...] = ()
    waiting: str = ""
    reason: str = ""


def build_status(
    before: dict[str, Any],
    generation: int,
    refusal: Refusal | None,
    shown: CampaignView | None,
    verdict: Validation | None = None,
    report: str = "",
) -> dict[str, Any]:
    """Build the status of a Validation; times and verdict of the previous status, ``before``, are kept."""
    result: dict[str, Any] = {k: before[k] for k in ("scenario", "digest", "startedAt") if before.get(k)}
    result["observedGeneration"] = generation
    if shown is not None:
        counts = Counter(outcome for _, _, outcome in shown.trials)
        result |= {"planned": shown.planned}
        result |= {k.lower(): counts[k] for k in ("Running", "Held", "Broken", "Infra")}
        result["trials"] = [{"name": n, "purpose": p, "outcome": o} for n, p, o in shown.trials]
    if verdict is not None:
        result |= {"verdict": str(verdict.verdict), "headline": verdict.headline[:_MAX_MESSAGE], "report": report}
        result["findings"] = [_serialize_finding(f) for f in verdict.findings[:_MAX_FINDINGS]]
        if verdict.statistics is not None and verdict.statistics.n:
            numbers = verdict.statistics
            result["statistics"] = {
                "repeats": numbers.n, "broken": numbers.broken, "atLeast": numbers.at_least, "claims": numbers.claims,
            }  # fmt: skip
    conditions = [Condition.from_json(c) for c in before.get("conditions") or []]
    after = set_conditions(conditions, _build_rows(refusal, shown, verdict), generation, CONDITIONS)
    result["conditions"] = [c.to_json() for c in after]
    return result


def _serialize_finding(finding: Finding) -> dict[str, str]:
    return {"code": finding.code, "severity": str(finding.severity), "message": finding.message[:_MAX_MESSAGE]}


def _build_rows(
    refusal: Refusal | None, shown: CampaignView | None, verdict: Validation | None
) -> Iterator[ConditionRow]:
    if refusal is not None:
        yield "Accepted", "False", refusal.reason, refusal.message
        yield "Succeeded", "Unknown", "NotAccepted", ""
        yield "Ready", "False", refusal.reason, refusal.message
    else:
        yield "Accepted", "True", "Valid", ""
        yield "Succeeded", *_judge_success(verdict)
        yield "Ready", *_judge_readiness(shown, verdict)


def _judge_success(verdict: Validation | None) -> tuple[Truth, str, str]:
    if verdict is None:
        return "Unknown", "Pending", ""
    answer: Truth = "True" if verdict.verdict == Verdict.PASS else "False"
    if verdict.verdict in (Verdict.NOT_EVALUATED, Verdict.INCONCLUSIVE):
        answer = "Unknown"
    return answer, _REASONS[verdict.verdict], verdict.headline[:_MAX_MESSAGE]


_REASONS: Final = {
    Verdict.PASS: "Passed",
    Verdict.FAIL: "Failed",
    Verdict.NOT_EVALUATED: "NotEvaluated",
    Verdict.KIT_ERROR: "KitError",
    Verdict.INCONCLUSIVE: "Inconclusive",
}


def _judge_readiness(shown: CampaignView | None, verdict: Validation | None) -> tuple[Truth, str, str]:
    if verdict is not None:
        return "True", "Concluded", verdict.headline[:_MAX_MESSAGE]
    if shown is not None and shown.waiting:
        return "False", shown.reason, shown.waiting[:_MAX_MESSAGE]
    ended = sum(outcome != "Running" for _, _, outcome in shown.trials) if shown else 0
    return "False", "TrialsRunning", f"{ended} of {shown.planned if shown else 0} trials have ended"
