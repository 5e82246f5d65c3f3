"""Scores from the grades of an external judge: reasoning (ITBench's evaluator) and yes-or-no questions (SREGym)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scenario_kit.model.base import Value

#: The grades of reasoning.
GRADES: Final = (0.0, 0.5, 1.0)
#: SREGym's weights of the groups of questions, and the passing score of a diagnosis.
CHECKLIST_WEIGHTS: Final = {"localisation": 0.33, "characterisation": 0.33, "scope": 0.34}
CHECKLIST_PASS: Final = 0.70


class JudgeGrades(Value, frozen=True, kw_only=True):
    """Grades of one answer: of the reasoning for each claim, and the answers to the questions of each group."""

    reasoning: dict[str, float] | None = None
    checklist: dict[str, tuple[bool, ...]] | None = None


def average_reasoning(grades: Sequence[float]) -> float:
    """Average the grades of right claims (root_cause_reasoning); 0 without any."""
    return sum(grades) / len(grades) if grades else 0.0


def compute_partial_reasoning(grades: Sequence[float], hops: Sequence[int | None]) -> float:
    """Compute the maximum over claims of grade / (1 + hops to the nearest root) (root_cause_reasoning_partial).

    A right claim is at 0 hops; a claim off the path earns nothing.
    """
    pairs = zip(grades, hops, strict=True)
    return max((grade / (1 + hop) for grade, hop in pairs if hop is not None), default=0.0)


def score_checklist(answers: Mapping[str, Sequence[bool]]) -> float:
    """Score the questions of each group by its weight; questions within a group count equally.

    Raises:
        ValueError: a group has no question.
    """
    if any(not answers.get(group) for group in CHECKLIST_WEIGHTS):
        raise ValueError(f"each of {', '.join(CHECKLIST_WEIGHTS)} requires at least one answer")
    return sum(weight * sum(answers[group]) / len(answers[group]) for group, weight in CHECKLIST_WEIGHTS.items())
