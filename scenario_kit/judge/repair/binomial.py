"""The upper tail of the binomial distribution.

Summed directly: SciPy would cost the operator 40 MB of memory for this one function.
"""

from __future__ import annotations

from math import exp, fsum, lgamma, log, log1p

#: Terms below this share of the first do not change a sum of doubles.
_NEGLIGIBLE = 1e-18


def compute_upper_tail(k: int, n: int, p: float) -> float:
    """Return the probability that at least ``k`` of ``n`` independent trials succeed, each with probability ``p``.

    >>> compute_upper_tail(2, 3, 0.5)
    0.5
    """
    if k <= 0 or p >= 1.0:
        return 1.0
    if k > n or p <= 0.0:
        return 0.0
    # Beyond the mean terms decrease: the first is the largest.
    if k > n * p:
        return min(1.0, _sum(k, n, p))
    return 1.0 - _sum(n - k + 1, n, 1.0 - p)


def _sum(k: int, n: int, p: float) -> float:
    """Sum the terms from ``k``, which exceeds the mean."""
    term = first = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))
    odds = p / (1.0 - p)
    terms = []
    while term > first * _NEGLIGIBLE:
        terms.append(term)
        term *= (n - k) / (k + 1) * odds
        k += 1
    return fsum(terms)
