"""Complexity of an incident: the cube root of path length × steps of the repair × technologies (ITBench paper)."""

from __future__ import annotations

from typing import Final

from scenario_kit.model.results.difficulty import Band

#: Upper bounds of low and medium complexity. A convention; no thresholds are published.
_LOW: Final = 1.8
_MEDIUM: Final = 2.8


def compute_complexity(path: int, steps: int, technologies: int) -> float:
    """Compute the complexity from the numbers of entities on the path, steps of the repair, and technologies.

    Raises:
        ValueError: a number is less than 1.
    """
    if min(path, steps, technologies) < 1:
        raise ValueError("path, steps and technologies must each be at least 1")
    return float((path * steps * technologies) ** (1 / 3))


def classify_complexity(value: float) -> Band:
    """Return the band of a complexity."""
    return "Low" if value < _LOW else "Medium" if value < _MEDIUM else "High"
