"""Scores of yes-or-no questions and ordered checks, as in SREGym and ITBench's CISO tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

#: SREGym's weights of localisation, characterisation and scope, and the passing score of a diagnosis.
SREGYM_WEIGHTS: Final = {"localisation": 0.33, "characterisation": 0.33, "scope": 0.34}
SREGYM_PASS: Final = 0.70


def score_checklist(answers: Mapping[str, Sequence[bool]], weights: Mapping[str, float] = SREGYM_WEIGHTS) -> float:
    """Score the questions of each group by its weight; questions within a group count equally.

    Raises:
        ValueError: a group has no question.
    """
    if any(not answers.get(group) for group in weights):
        raise ValueError(f"each of {', '.join(weights)} requires at least one answer")
    return sum(weight * sum(answers[group]) / len(answers[group]) for group, weight in weights.items())


def chain_checks(results: Sequence[bool]) -> list[float]:
    """Score ordered checks: all after the first failure score 0."""
    scores: list[float] = []
    held = True
    for result in results:
        held = held and result
        scores.append(float(held))
    return scores
