"""Localisation score of AIOpsLab."""

from __future__ import annotations

from collections.abc import Collection

from scenario_kit.model.base import Value


class LocalisationResult(Value, frozen=True, kw_only=True):
    """``accuracy`` is in percent; ``success`` means exactly the truth, ``is_subset`` that all of it is named."""

    accuracy: float
    success: bool
    is_subset: bool


def score_localisation(truth: Collection[str], named: Collection[str]) -> LocalisationResult:
    """Score a localisation: 100 for exactly the ground truth, 100/len(answer) for a superset, else 0.

    As published, the divisor is the length of the answer, regardless of the number of faulty services. Repeated names
    count once.
    """
    expected, found = set(truth), set(named)
    subset = bool(expected) and expected <= found
    exact = subset and expected == found
    return LocalisationResult(
        accuracy=100.0 if exact else 100.0 / len(found) if subset else 0.0, success=exact, is_subset=subset
    )
