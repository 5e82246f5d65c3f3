"""Aggregation of reasoning grades that an external judge assigned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

#: The possible grades.
GRADES: Final = (0.0, 0.5, 1.0)


def average_reasoning(grades: Sequence[float]) -> float:
    """Average the grades of right claims (root_cause_reasoning); 0 without any."""
    _check_grades(grades)
    return sum(grades) / len(grades) if grades else 0.0


def compute_partial_reasoning(grades: Sequence[float], hops: Sequence[int | None]) -> float:
    """Compute the maximum over claims of grade / (1 + hops to the nearest root) (root_cause_reasoning_partial).

    A right claim is at 0 hops; a claim off the path earns nothing.
    """
    _check_grades(grades)
    pairs = zip(grades, hops, strict=True)
    return max((grade / (1 + hop) for grade, hop in pairs if hop is not None), default=0.0)


def _check_grades(grades: Sequence[float]) -> None:
    for grade in grades:
        if grade not in GRADES:
            raise ValueError(f"{grade} is not a grade: 0, .5 or 1")
