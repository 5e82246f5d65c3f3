"""Unbiased estimator of pass@k, the chance that one of k runs is right (Chen et al. 2021, arXiv 2107.03374)."""

from __future__ import annotations

from math import comb


def compute_pass_at_k(runs: int, correct: int, k: int) -> float:
    """Compute 1 - C(n-c, k)/C(n, k) for one scenario.

    Raises:
        ValueError: ``k`` is not from 1 to the number of runs, or more runs are correct than there are.
    """
    if not 1 <= k <= runs:
        raise ValueError(f"pass@{k} requires at least {max(k, 1)} runs and k of at least 1; there are {runs} runs")
    if not 0 <= correct <= runs:
        raise ValueError(f"{correct} correct of {runs} runs is impossible")
    return 1 - comb(runs - correct, k) / comb(runs, k)
