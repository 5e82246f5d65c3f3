"""The binomial distribution's upper tail.

Summed term by term. A library for it (SciPy) would stay in the operator with 40 MB, for this one sum.
"""

from __future__ import annotations

from math import exp, fsum, lgamma, log, log1p

#: A term that is less than this share of the first adds nothing to a sum of doubles.
_NOTHING = 1e-18


def compute_upper_tail(k: int, n: int, p: float) -> float:
    """Compute how likely ``k`` or more of ``n`` independent trials succeed, each with probability ``p``.

    >>> at_least(2, 3, 0.5)
    0.5
    """
    if k <= 0 or p >= 1.0:
        return 1.0
    if k > n or p <= 0.0:
        return 0.0
    # Away from the mean terms only fall: the first is the largest, and where it is nothing so is the sum.
    if k > n * p:
        return min(1.0, _sum(k, n, p))
    return 1.0 - _sum(n - k + 1, n, 1.0 - p)


def _sum(k: int, n: int, p: float) -> float:
    """Sum the terms from ``k`` on, which is above the mean."""
    term = first = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))
    odds = p / (1.0 - p)
    terms = []
    while term > first * _NOTHING:
        terms.append(term)
        term *= (n - k) / (k + 1) * odds
        k += 1
    return fsum(terms)
