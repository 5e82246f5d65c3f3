"""Choose the next trials of a campaign, and decide from those that have ended (docs/plans.md). Pure.

Only repeats that held or broke count for a look of the plan. A trial that infrastructure ended is replaced (repeats) or
retried once (others). All attempts stay in the evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import msgspec

from scenario_kit.campaign.planning.plans import PlannedTrial, repeat
from scenario_kit.campaign.planning.sequential_test import Look, decide
from scenario_kit.model import Verdict
from scenario_kit.model.results.purpose import Purpose, PurposeKind, is_repeat

#: Maximum share of attempts ended by infrastructure; above it, nothing is judged (2 of 7 is fine, 3 of 8 is not).
_INFRA_SHARE: Final = 1 / 3


class EndedTrial(Protocol):
    """An ended trial."""

    @property
    def purpose(self) -> str:
        """Its purpose."""

    @property
    def outcome(self) -> str:
        """Held, Broken or Infra."""


def counts(ended: Iterable[EndedTrial]) -> tuple[int, int]:
    """Return the number of repeats that held, and of those that broke."""
    outcomes = [e.outcome for e in ended if is_repeat(e.purpose)]
    return outcomes.count("Held"), outcomes.count("Broken")


def is_settled(looks: Sequence[Look], ended: Sequence[EndedTrial]) -> bool:
    """Return whether no further repeat can change the result."""
    return decide(looks, *counts(ended)).verdict is not None


def plan_further_trials(
    looks: Sequence[Look], planned: Sequence[PlannedTrial], ended: Sequence[EndedTrial], loads: Sequence[int] = ()
) -> list[PlannedTrial]:
    """Return the trials that are needed once all planned ones have ended; empty if everything is decided.

    ``planned`` are all trials so far, ``loads`` the plan's. New repeats get new numbers and seeds; other trials that
    infrastructure ended are retried once with their seed. There are no retries if infrastructure failed so often that
    their success could not change the verdict.
    """
    known = {p.purpose for p in planned}
    failed = {e.purpose for e in ended if e.outcome == "Infra"}
    again = [
        msgspec.structs.replace(p, purpose=second)
        for p in planned
        if p.purpose in failed and (second := _name_second_attempt(p.purpose)) and second not in known
    ]
    repeats = [p for p in planned if is_repeat(p.purpose)]
    more = decide(looks, *counts(ended)).more if repeats else 0
    new = again + [repeat(repeats[0], len(repeats) + number, loads) for number in range(1, more + 1)]
    return [] if _has_too_many_failures(ended, len(new)) else new


def judge_trials(looks: Sequence[Look], ended: Sequence[EndedTrial]) -> Verdict:
    """Return the verdict of trials: Fail before NotEvaluated before Inconclusive before Pass."""
    repeats = decide(looks, *counts(ended)).verdict if any(is_repeat(e.purpose) for e in ended) else Verdict.PASS
    others = [e for e in ended if not is_repeat(e.purpose)]
    if repeats == Verdict.FAIL or any(e.outcome == "Broken" for e in others):
        return Verdict.FAIL
    held = {Purpose.parse(e.purpose)._replace(again=False) for e in others if e.outcome == "Held"}
    missing = {Purpose.parse(e.purpose)._replace(again=False) for e in others} - held
    if not ended or repeats is None or missing or _has_too_many_failures(ended):
        return Verdict.NOT_EVALUATED
    return repeats


def _name_second_attempt(purpose: str) -> str:
    """Return the purpose of a trial's retry; empty for repeats and retries."""
    first = Purpose.parse(purpose)
    return "" if first.again or first.kind is PurposeKind.REPEAT else str(first._replace(again=True))


def _has_too_many_failures(ended: Sequence[EndedTrial], more: int = 0) -> bool:
    return sum(e.outcome == "Infra" for e in ended) > _INFRA_SHARE * (len(ended) + more)
