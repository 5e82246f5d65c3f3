"""Accuracies of AIOpsLab's levels."""

from __future__ import annotations

from collections.abc import Collection


def compute_localisation_accuracy(truth: Collection[str], named: Collection[str]) -> float:
    """Compute the accuracy in percent: 100 for exactly the truth, 100/len(answer) for a superset, 0 else.

    Success, which AIOpsLab tells apart, is 100 alone. The published rule divides by the length of the answer, whatever
    the number of faulty services is; names that are repeated count once.
    """
    expected, found = set(truth), set(named)
    if not expected or not expected <= found:
        return 0.0
    return 100.0 if expected == found else 100.0 / len(found)
