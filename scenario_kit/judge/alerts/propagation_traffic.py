"""Check whether a component that a propagation passes through shows a change in its traffic. Pure.

The time before and during the incident is compared in three ways: error ratio and request rate by the exact conditional
test of two Poisson counts (Przyborowski and Wilenski 1940), durations by the two-sample Kolmogorov-Smirnov test on the
histogram's buckets, which makes it more conservative. A change must be significant and large: with many requests even
the smallest drift is significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, lgamma, log, sqrt
from typing import Final, NamedTuple

from scenario_kit.model.runtime.observation import Passage, Work

#: Significance level. A false positive is the lesser evil here.
_ALPHA: Final = 0.01
#: Minimum number of requests on either side, the expected number during the incident.
ENOUGH: Final = 100
#: Minimum change of the error ratio, of the share served within some duration, and of the rate (relative).
_ERROR_CHANGE, _DURATION_CHANGE, _RATE_CHANGE = 0.005, 0.02, 0.05


class TrafficChange(NamedTuple):
    """A change of a component's traffic: the quantity ``what``, and its values with units."""

    what: str
    before: str
    during: str

    def __str__(self) -> str:
        return f"{self.what} {self.before} → {self.during}"


def pool_passages(passages: Sequence[Passage]) -> Passage:
    """Pool the passages of one component in several repeats, at least one."""
    return Passage(
        entity=passages[0].entity, before=_sum([p.before for p in passages]), during=_sum([p.during for p in passages])
    )


def has_enough_requests(passage: Passage) -> bool:
    """Return whether there were enough requests for a change to show."""
    before, during = passage.before, passage.during
    return min(before.requests, before.requests * during.seconds / max(before.seconds, 1.0)) >= ENOUGH


def find_traces(passage: Passage) -> list[TrafficChange]:
    """List the changes in a component's traffic, the clearest first; empty if there is none."""
    before, during = passage.before, passage.during
    found = []
    failing = compute_error_ratio(before), compute_error_ratio(during)
    exposed = before.requests, during.requests
    if (
        abs(failing[1] - failing[0]) >= _ERROR_CHANGE
        and compute_chance(before.errors, during.errors, *exposed) < _ALPHA
    ):
        found.append(TrafficChange("errors", f"{failing[0]:.1%}", f"{failing[1]:.1%}"))
    apart = _measure_distance(before, during)
    if apart >= _DURATION_CHANGE and _compute_distance_chance(apart, *exposed) < _ALPHA:
        found.append(TrafficChange("durations", *(f"half in {_find_median(w)}" for w in (before, during))))
    rates = compute_rate(before), compute_rate(during)
    lapsed = before.seconds, during.seconds
    if abs(rates[1] - rates[0]) >= _RATE_CHANGE * rates[0] and compute_chance(*exposed, *lapsed) < _ALPHA:
        found.append(TrafficChange("requests", f"{rates[0]:.3g}/s", f"{rates[1]:.3g}/s"))
    return found


def compute_chance(one: float, other: float, exposure: float, other_exposure: float) -> float:
    """Return the two-sided p-value of two counts under equal rates per exposure, at most 1."""
    a, n = round(one), round(one) + round(other)
    if n == 0 or exposure <= 0 or other_exposure <= 0:
        return 1.0
    p = exposure / (exposure + other_exposure)
    fixed = lgamma(n + 1)
    below = range(a + 1) if a < n * p else range(a, n + 1)
    terms = (fixed - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log(1 - p) for k in below)
    return min(1.0, 2 * sum(exp(term) for term in terms))


def _sum(works: Sequence[Work]) -> Work:
    bounds = sorted({bound for w in works for bound, _ in w.within})
    return Work(
        seconds=sum(w.seconds for w in works),
        requests=sum(w.requests for w in works),
        errors=sum(w.errors for w in works),
        within=tuple((bound, sum(dict(w.within).get(bound, 0.0) for w in works)) for bound in bounds),
    )


def compute_error_ratio(work: Work) -> float:
    """Return the share of requests that failed; 0 without requests."""
    return work.errors / work.requests if work.requests > 0 else 0.0


def compute_rate(work: Work) -> float:
    """Return the requests per second."""
    return work.requests / max(work.seconds, 1.0)


def format_bound(milliseconds: float) -> str:
    """Format the bound of a bucket of durations."""
    return f"{milliseconds:g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:g} s"


def _measure_distance(one: Work, other: Work) -> float:
    """Return the largest difference between two distributions of durations; 0 if one is unknown."""
    if min(one.requests, other.requests) <= 0:
        return 0.0
    shares = dict(other.within)
    return max((abs(n / one.requests - shares[b] / other.requests) for b, n in one.within if b in shares), default=0.0)


def _compute_distance_chance(apart: float, n: float, m: float) -> float:
    """Return the asymptotic p-value of a Kolmogorov-Smirnov distance, an upper bound for grouped data."""
    if min(n, m) <= 0:
        return 1.0
    return min(1.0, 2 * exp(-2 * (apart * sqrt(n * m / (n + m))) ** 2))


def _find_median(work: Work) -> str:
    """Return the bound of the bucket that holds the median."""
    bound = next((b for b, n in work.within if n >= work.requests / 2), inf)
    return "more" if bound == inf else format_bound(bound)
