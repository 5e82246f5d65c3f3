"""Whether trouble that is said to pass through a component left a trace in its work. Pure.

Before and during are compared in three ways: the share of requests that fail and the rate of requests by the exact
conditional test of two Poisson counts (Przyborowski and Wilenski 1940), durations by the two-sample test of Kolmogorov
and Smirnov on the buckets of the histogram, which is only the more careful for them. A trace must be significant and
large enough to matter: with many requests the slightest drift is significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, lgamma, log, sqrt
from typing import Final, NamedTuple

from scenario_kit.model.runtime.observation import Passage, Work

#: What chance alone may show once in a hundred times is a trace; to be believed too easily is the lesser evil here.
_CHANCE: Final = 0.01
#: With fewer requests on either side, as their number before lets one expect, nothing is said.
ENOUGH: Final = 100
#: Smaller changes are drift: of the share that fails, of the share that is served within some time, of the rate.
_SHARE, _SLOWER, _RATE = 0.005, 0.02, 0.05


class TrafficChange(NamedTuple):
    """How a component's work changed: in ``what``, from ``before`` to ``during``, both with their units."""

    what: str
    before: str
    during: str

    def __str__(self) -> str:
        return f"{self.what} {self.before} → {self.during}"


def pool_passages(passages: Sequence[Passage]) -> Passage:
    """Pool several repeats of one component's passage as one; there is at least one."""
    return Passage(
        entity=passages[0].entity,
        before=_sum([p.before for p in passages]),
        during=_sum([p.during for p in passages]),
    )


def is_telling(passage: Passage) -> bool:
    """Return whether there were requests enough for a change to show."""
    before, during = passage.before, passage.during
    return min(before.requests, before.requests * during.seconds / max(before.seconds, 1.0)) >= ENOUGH


def find_traces(passage: Passage) -> list[TrafficChange]:
    """Find what changed, the plainest first; none where the component worked as before."""
    before, during = passage.before, passage.during
    found = []
    failing = _compute_share(before), _compute_share(during)
    exposed = before.requests, during.requests
    if abs(failing[1] - failing[0]) >= _SHARE and compute_chance(before.errors, during.errors, *exposed) < _CHANCE:
        found.append(TrafficChange("errors", f"{failing[0]:.1%}", f"{failing[1]:.1%}"))
    apart = _measure_distance(before, during)
    if apart >= _SLOWER and _compute_distance_chance(apart, *exposed) < _CHANCE:
        found.append(TrafficChange("durations", *(f"half in {_find_median(w)}" for w in (before, during))))
    rates = before.requests / max(before.seconds, 1.0), during.requests / max(during.seconds, 1.0)
    lapsed = before.seconds, during.seconds
    if abs(rates[1] - rates[0]) >= _RATE * rates[0] and compute_chance(*exposed, *lapsed) < _CHANCE:
        found.append(TrafficChange("requests", f"{rates[0]:.3g}/s", f"{rates[1]:.3g}/s"))
    return found


def compute_chance(one: float, other: float, exposure: float, other_exposure: float) -> float:
    """Compute how likely two counts lie as far apart, if both come at the same rate per exposure: two-sided, at most
    1.
    """
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


def _compute_share(work: Work) -> float:
    return work.errors / work.requests if work.requests > 0 else 0.0


def _measure_distance(one: Work, other: Work) -> float:
    """Measure the largest difference of the two distributions of durations; 0 where one of them is unknown."""
    if min(one.requests, other.requests) <= 0:
        return 0.0
    there = dict(other.within)
    return max((abs(n / one.requests - there[b] / other.requests) for b, n in one.within if b in there), default=0.0)


def _compute_distance_chance(apart: float, n: float, m: float) -> float:
    """Compute how likely a difference of distributions is that large by chance: the limit for many requests, a
    bound.
    """
    if min(n, m) <= 0:
        return 1.0
    return min(1.0, 2 * exp(-2 * (apart * sqrt(n * m / (n + m))) ** 2))


def _find_median(work: Work) -> str:
    """Find the bound below which half of the requests were served."""
    bound = next((b for b, n in work.within if n >= work.requests / 2), inf)
    if bound == inf:
        return "more"
    return f"{bound:g} ms" if bound < 1000 else f"{bound / 1000:g} s"
