"""Means over incidents and repeats, with all published standard errors and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, sqrt
from typing import Literal

from scenario_kit.model.base import Value
from scenario_kit.scoring.statistics.intervals import SEED, compute_bootstrap_interval, compute_wilson_interval


class Estimate(Value, frozen=True, kw_only=True, omit_defaults=False):
    """The macro mean: over the runs of each incident, then over incidents. Errors are None with too few values.

    ``standard_error`` uses n-1 (over incidents, or over the runs of a single one), ``population_error`` n, like
    ITBench's evaluator per incident; ``task_error`` is ORCA-bench's, from the variance within incidents. ``method`` is
    the method of the 95 % interval from ``low`` to ``high``.
    """

    mean: float
    runs: int
    incidents: int
    standard_error: float | None = None
    population_error: float | None = None
    task_error: float | None = None
    low: float | None = None
    high: float | None = None
    method: Literal["Wilson", "Bootstrap", "None"] = "None"


def estimate_mean(values: Mapping[str, Sequence[float]], seed: int = SEED, *, share: bool = True) -> Estimate | None:
    """Estimate the mean of a metric from the values of each incident's runs; None without values.

    The interval is over the means of incidents because repeats of one incident are correlated; with a single incident,
    over its runs. It is Wilson's if every value of a ``share`` is 0 or 1, else a bootstrap.
    """
    groups = [list(each) for each in values.values() if each]
    if not groups:
        return None
    means = [compute_mean(each) for each in groups]
    units = means if len(means) > 1 else groups[0]
    mean = compute_mean(means)
    binary = share and all(value in (0.0, 1.0) for each in groups for value in each)
    low = high = None
    if binary:
        low, high = compute_wilson_interval(len(units), len(units) * (1 - mean))
    elif len(units) > 1:
        low, high = compute_bootstrap_interval(units, seed)
    return Estimate(
        mean=mean, runs=sum(map(len, groups)), incidents=len(groups),
        standard_error=compute_standard_error(units), population_error=compute_population_error(units),
        task_error=compute_task_error(groups), low=low, high=high,
        method="Wilson" if binary else "Bootstrap" if low is not None else "None",
    )  # fmt: skip


def compute_mean(values: Sequence[float]) -> float:
    """Compute the arithmetic mean."""
    return fsum(values) / len(values)


def compute_standard_error(values: Sequence[float]) -> float | None:
    """Compute the standard error of a mean, from the standard deviation with n-1; None for one value."""
    return sqrt(_sum_squares(values) / (len(values) - 1) / len(values)) if len(values) > 1 else None


def compute_population_error(values: Sequence[float]) -> float:
    """Compute the standard error from the standard deviation with n."""
    return sqrt(_sum_squares(values)) / len(values)


def compute_task_error(groups: Sequence[Sequence[float]]) -> float | None:
    """Compute ORCA-bench's error: s² = (1/n²) Σ var_i / k_i over n tasks with k_i repeats, variances with n-1.

    Without repeats it is the standard error over tasks. A task with one repeat adds nothing if others have more.
    """
    if all(len(each) == 1 for each in groups):
        return compute_standard_error([each[0] for each in groups])
    within = [_sum_squares(each) / (len(each) - 1) / len(each) for each in groups if len(each) > 1]
    return sqrt(fsum(within)) / len(groups)


def _sum_squares(values: Sequence[float]) -> float:
    mean = compute_mean(values)
    return fsum((value - mean) ** 2 for value in values)
