"""Scores of reasons that a judge gave elsewhere; the arithmetic alone is ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

#: The grades of a reason.
GRADES: Final = (0.0, 0.5, 1.0)


def average_reasoning(grades: Sequence[float]) -> float:
    """Average the grades of the claims that are right (root_cause_reasoning); 0 where none is."""
    _refuse_other_grades(grades)
    return sum(grades) / len(grades) if grades else 0.0


def compute_partial_reasoning(grades: Sequence[float], hops: Sequence[int | None]) -> float:
    """Compute the largest grade over claims, divided by 1 + hops to the nearest root (root_cause_reasoning_partial).

    A right claim is at 0 hops; one off the path earns nothing.
    """
    _refuse_other_grades(grades)
    pairs = zip(grades, hops, strict=True)
    return max((grade / (1 + hop) for grade, hop in pairs if hop is not None), default=0.0)


def _refuse_other_grades(grades: Sequence[float]) -> None:
    for grade in grades:
        if grade not in GRADES:
            raise ValueError(f"{grade} is no grade: 0, .5 or 1")
