"""Measure the agreement of repeats: times, sets of alerts, order of onsets (docs/plans.md).

Pure. Times are in seconds after injection, infinite for what never happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import ceil, isfinite
from statistics import mean
from typing import Final, NamedTuple

#: Thresholds below which repeats disagree (conventions).
JACCARD, ORDER = 0.8, 0.8
_ROUNDED_TO: Final = 30


def find_quantile(times: Iterable[float], share: float) -> float:
    """Return the nearest-rank quantile: an observed value, possibly infinite.

    Raises:
        ValueError: there are no times, or the share is not in (0, 1].
    """
    ordered = sorted(times)
    if not ordered or not 0 < share <= 1:
        raise ValueError(f"no {share:g} quantile of {len(ordered)} times")
    return ordered[ceil(share * len(ordered)) - 1]


def propose_budget(times: Sequence[float]) -> float:
    """Propose a deadline for an alert from observed onsets, rounded up to 30 s.

    It is twice the 95th percentile, or one minute more than it if that is longer; infinite if the alert was missing
    once.
    """
    p95 = find_quantile(times, 0.95)
    desired = max(2 * p95, p95 + 60)
    return desired if not isfinite(desired) else float(_ROUNDED_TO * ceil(desired / _ROUNDED_TO))


class Onsets(NamedTuple):
    """Onsets of an alert over the repeats: how many fired, median and 95th percentile, and the proposed deadline."""

    fired: int
    n: int
    median: float
    p95: float
    budget: float


def summarise_onsets(times: Sequence[float]) -> Onsets:
    """Summarise the onsets of one alert."""
    return Onsets(
        sum(isfinite(t) for t in times),
        len(times),
        find_quantile(times, 0.5),
        find_quantile(times, 0.95),
        propose_budget(times),
    )


def compute_jaccard(sets: Sequence[frozenset[str]]) -> float:
    """Return the mean Jaccard similarity of all pairs of sets; 1 for empty pairs, and for fewer than two sets."""
    pairs = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(sets, 2)]
    return mean(pairs) if pairs else 1.0


def measure_order(before: Sequence[float], after: Sequence[float], tick: float) -> float:
    """Return the share of repeats in which one onset was not later than another, with a tolerance of a tick.

    Repeats without either are ignored; the result is 1 if there are no others.
    """
    pairs = [(u, v) for u, v in zip(before, after, strict=True) if isfinite(u) or isfinite(v)]
    return mean(u <= v + tick for u, v in pairs) if pairs else 1.0


def discriminates(first: Sequence[frozenset[str]], second: Sequence[frozenset[str]]) -> float:
    """Return the distance of two scenarios' repeats: mean similarity within each, minus that across; 0 is the same."""
    across = [len(a & b) / len(a | b) if a | b else 1.0 for a in first for b in second]
    return (compute_jaccard(first) + compute_jaccard(second)) / 2 - (mean(across) if across else 1.0)
