"""Times to detection, diagnosis and mitigation: means over successes as published, and restricted means."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, inf

from scenario_kit.model.base import Value
from scenario_kit.scoring.statistics.intervals import SEED, compute_bootstrap_interval


class TimeSummary(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Summary of times in seconds.

    ``mean`` is over successes only, as published; None without any. ``restricted`` is over all runs, with ``cap``
    seconds for failures; ``low`` and ``high`` are its 95 % bootstrap interval.
    """

    runs: int
    successes: int
    cap: float
    mean: float | None
    restricted: float
    low: float | None = None
    high: float | None = None


def compute_mean_time(times: Sequence[float | None]) -> float:
    """Compute the mean over successes, as published; infinite without any. It rewards solving only easy cases."""
    reached = [time for time in times if time is not None]
    return fsum(reached) / len(reached) if reached else inf


def compute_restricted_mean(times: Sequence[float | None], cap: float) -> float:
    """Compute the mean over all runs, with times limited to ``cap`` and failures counted as ``cap``.

    Raises:
        ValueError: there are no runs, or the cap is not positive.
    """
    if not times or cap <= 0:
        raise ValueError("a restricted mean requires runs, and a cap above 0")
    return fsum(cap if time is None else min(time, cap) for time in times) / len(times)


def summarise_times(times: Sequence[float | None], cap: float, seed: int = SEED) -> TimeSummary:
    """Summarise the times of runs, with None for failures.

    Raises:
        ValueError: as ``compute_restricted_mean``.
    """
    reached = [time for time in times if time is not None]
    capped = [cap if time is None else min(time, cap) for time in times]
    low, high = compute_bootstrap_interval(capped, seed) if len(capped) > 1 else (None, None)
    return TimeSummary(
        runs=len(times), successes=len(reached), cap=cap, mean=compute_mean_time(times) if reached else None,
        restricted=compute_restricted_mean(times, cap), low=low, high=high,
    )  # fmt: skip
