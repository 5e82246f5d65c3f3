"""Confidence intervals of shares (Wilson) and of means (seeded bootstrap)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

#: Number of bootstrap resamples, and their default seed.
RESAMPLES: Final = 2_000
SEED: Final = 20_260_101
#: The standard normal quantile of a two-sided interval of 95 %.
NORMAL_95: Final = 1.96


def compute_wilson_interval(n: float, broken: float, z: float = NORMAL_95) -> tuple[float, float]:
    """Compute the two-sided interval of the share of trials that are not ``broken`` (Wilson 1927).

    Raises:
        ValueError: there are no trials, or more broken ones than trials.
    """
    if n <= 0 or not 0 <= broken <= n:
        raise ValueError(f"{broken} broken of {n} trials is impossible")
    share, square = (n - broken) / n, z * z
    centre = share + square / (2 * n)
    half = z * (share * (1 - share) / n + square / (4 * n * n)) ** 0.5
    return max(0.0, (centre - half) / (1 + square / n)), min(1.0, (centre + half) / (1 + square / n))


def compute_bootstrap_interval(values: Sequence[float], seed: int = SEED) -> tuple[float, float]:
    """Compute the 95 % percentile interval of the mean, deterministic for a seed (Efron 1979).

    Raises:
        ValueError: fewer than two values.
    """
    import numpy

    if len(values) < 2:
        raise ValueError("a bootstrap requires at least two values")
    means = numpy.asarray(values, dtype=float)[_draw_indices(len(values), seed)].mean(axis=1)
    low, high = numpy.percentile(means, [2.5, 97.5])
    return float(low), float(high)


@lru_cache(maxsize=64)
def _draw_indices(count: int, seed: int) -> Any:
    import numpy  # an import that a score of one run should not pay

    return numpy.random.default_rng(seed).integers(0, count, size=(RESAMPLES, count))
