"""What a campaign runs next, and what the trials that ended settle (docs/plans.md). Pure.

The repeats that a plan looks at are those that held or broke. A trial that infrastructure ended is no repeat: another
one takes its place, any other trial is tried once more. All attempts stay in the evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import msgspec

from scenario_kit.campaign.planning.plans import PlannedTrial, repeat
from scenario_kit.campaign.planning.sequential_test import Look, decide
from scenario_kit.model import Verdict
from scenario_kit.model.results.purpose import Purpose, PurposeKind, is_repeat

#: More attempts than this share ended by infrastructure: then nothing is judged (2 of 7 is, 3 of 8 is not).
_INFRA_SHARE: Final = 1 / 3


class EndedTrial(Protocol):
    """A trial that ended."""

    @property
    def purpose(self) -> str:
        """What it was for."""

    @property
    def outcome(self) -> str:
        """Held, Broken or Infra."""


def counts(ended: Iterable[EndedTrial]) -> tuple[int, int]:
    """Return how many repeats held, and how many broke."""
    outcomes = [e.outcome for e in ended if is_repeat(e.purpose)]
    return outcomes.count("Held"), outcomes.count("Broken")


def is_settled(looks: Sequence[Look], ended: Sequence[EndedTrial]) -> bool:
    """Return whether no further repeat can change what the repeats show."""
    return decide(looks, *counts(ended)).verdict is not None


def plan_further_trials(
    looks: Sequence[Look], planned: Sequence[PlannedTrial], ended: Sequence[EndedTrial], loads: Sequence[int] = ()
) -> list[PlannedTrial]:
    """Plan the trials that are needed next, once all that were planned have ended; none if everything is settled.

    ``planned`` is all that was planned so far, ``loads`` are the plan's. Repeats get new numbers and new seeds. A trial
    of another purpose that infrastructure ended runs again with its own, once. Nothing more is tried where
    infrastructure is to blame so often that not even their success could be judged.
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
    """Return the verdict of the trials alone: Fail before NotEvaluated before Inconclusive before Pass."""
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
    """Name the purpose of a trial's second attempt; empty where it is a repeat, or was one."""
    first = Purpose.parse(purpose)
    return "" if first.again or first.kind is PurposeKind.REPEAT else str(first._replace(again=True))


def _has_too_many_failures(ended: Sequence[EndedTrial], more: int = 0) -> bool:
    return sum(e.outcome == "Infra" for e in ended) > _INFRA_SHARE * (len(ended) + more)
