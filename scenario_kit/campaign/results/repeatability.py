"""How far repeats of a scenario agree: times, sets of alerts, order of onsets (docs/plans.md).

Pure. Times are seconds from injection; what never happened is infinite.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import ceil, isfinite
from statistics import mean, median
from typing import Final, NamedTuple

#: Below these shares, the repeats are said to disagree (conventions of the reference).
JACCARD, ORDER = 0.8, 0.8
_ROUNDED_TO: Final = 30


def find_quantile(times: Iterable[float], share: float) -> float:
    """Find the nearest-rank quantile: a value that was seen, also infinity.

    Raises:
        ValueError: there are no times, or the share is not in (0, 1].
    """
    ordered = sorted(times)
    if not ordered or not 0 < share <= 1:
        raise ValueError(f"no {share:g} quantile of {len(ordered)} times")
    return ordered[ceil(share * len(ordered)) - 1]


def propose_budget(times: Sequence[float]) -> float:
    """Propose seconds within which an alert should be expected, from the onsets that were seen: rounded up to 30 s.

    Twice the 95th percentile, or a minute more than it if that is longer; infinite if the alert once did not come.
    """
    p95 = find_quantile(times, 0.95)
    desired = max(2 * p95, p95 + 60)
    return desired if not isfinite(desired) else float(_ROUNDED_TO * ceil(desired / _ROUNDED_TO))


class Onsets(NamedTuple):
    """Onsets of one alert over the repeats: how many fired, the middle and the end of the distribution, the budget."""

    fired: int
    n: int
    median: float
    p95: float
    budget: float


def summarise_onsets(times: Sequence[float]) -> Onsets:
    """Summarise what the onsets of one alert show."""
    return Onsets(
        sum(isfinite(t) for t in times),
        len(times),
        find_quantile(times, 0.5),
        find_quantile(times, 0.95),
        propose_budget(times),
    )


def is_even(times: Sequence[float], tick: float) -> bool:
    """Return whether onsets lie within what scraping alone explains: ``tick`` is scrape plus evaluation interval."""
    seen = [t for t in times if isfinite(t)]
    return not seen or max(seen) - min(seen) <= max(2 * tick, 0.5 * median(seen))


def compute_jaccard(sets: Sequence[frozenset[str]]) -> float:
    """Compute the mean similarity of all pairs of sets; two empty ones, and fewer than two sets, are equal."""
    pairs = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(sets, 2)]
    return mean(pairs) if pairs else 1.0


def measure_order(before: Sequence[float], after: Sequence[float], tick: float) -> float:
    """Measure the share of repeats in which one onset did not come later than another, but for a tick.

    Repeats in which neither came say nothing; with none left it is 1.
    """
    said = [(u, v) for u, v in zip(before, after, strict=True) if isfinite(u) or isfinite(v)]
    return mean(u <= v + tick for u, v in said) if said else 1.0


def discriminates(first: Sequence[frozenset[str]], second: Sequence[frozenset[str]]) -> float:
    """Return how far two scenarios' repeats lie apart: mean similarity within each, less that across; 0 is no
    difference.
    """
    across = [len(a & b) / len(a | b) if a | b else 1.0 for a in first for b in second]
    return (compute_jaccard(first) + compute_jaccard(second)) / 2 - (mean(across) if across else 1.0)
