"""Sequential tests: how many repeats to run, and what they prove, with exact bounds (docs/plans.md). Pure.

A repeat holds with probability `p`, or breaks. A plan is a list of looks at the repeats so far; each decides, or asks
for more. All properties of a plan are computed by exact enumeration, not by simulation.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from math import comb
from typing import Final, NamedTuple

import msgspec

from scenario_kit.errors import UsageError
from scenario_kit.judge.repair.binomial import compute_upper_tail
from scenario_kit.model import Value, Verdict


class Look(Value, frozen=True, kw_only=True):
    """After ``n`` valid repeats, at most ``accept`` broken ones pass and ``reject`` fail; in between, more are run.

    In documents ``n`` is called ``repeats``: YAML 1.1, and so kubectl, reads ``n`` as false.
    """

    n: int = msgspec.field(name="repeats")
    accept: int
    reject: int


#: The merge plan: no broken ones of five pass; one of five needs five more, none of which may break.
FIVE_THEN_FIVE: Final = (Look(n=5, accept=0, reject=2), Look(n=10, accept=1, reject=3))
#: p > .8, with an error of 5 % over all its looks.
REPRODUCIBLE: Final = (Look(n=17, accept=0, reject=3), Look(n=25, accept=1, reject=3), Look(n=33, accept=2, reject=3))
ONCE: Final = (Look(n=1, accept=0, reject=1),)
#: Resolution of the search for a probability.
_STEPS: Final = 1_000_000_000


class Decision(NamedTuple):
    """A verdict, or None and the number of repeats until the next look."""

    verdict: Verdict | None
    more: int


def decide(looks: Sequence[Look], held: int, broken: int) -> Decision:
    """Return the verdict after these valid repeats, as soon as nothing can change it.

    Raises:
        ValueError: a count is negative.
    """
    if held < 0 or broken < 0:
        raise ValueError("the numbers of repeats must not be negative")
    n = held + broken
    for look in looks:
        # More repeats may have run than this look needs, in unknown order: it fails if enough of its own broke in any
        # order; otherwise the next look decides.
        if broken - max(0, n - look.n) >= look.reject:
            return Decision(Verdict.FAIL, 0)
        if n < look.n:
            return Decision(None, look.n - n)
        if n == look.n and broken <= look.accept:
            return Decision(Verdict.PASS, 0)
    last = looks[-1]
    return Decision(Verdict.PASS if broken <= last.accept else Verdict.INCONCLUSIVE, 0)


class Characteristics(NamedTuple):
    """Properties of a plan for a given ``p``: the probability of each verdict, and the expected number of repeats."""

    passes: float
    fails: float
    inconclusive: float
    repeats: float


def compute_characteristics(looks: Sequence[Look], p: float) -> Characteristics:
    """Return the exact operating characteristics; all repeats of a look count, as they run in parallel."""
    alive, passes, fails, repeats, before = {0: 1.0}, 0.0, 0.0, 0.0, 0
    for look in looks:
        size = look.n - before
        repeats += size * sum(alive.values())
        spread: dict[int, float] = {}
        for broken, chance in alive.items():
            for new, share in enumerate(_compute_binomial(size, 1 - p)):
                spread[broken + new] = spread.get(broken + new, 0.0) + chance * share
        passes += sum(c for b, c in spread.items() if b <= look.accept)
        fails += sum(c for b, c in spread.items() if b >= look.reject)
        alive = {b: c for b, c in spread.items() if look.accept < b < look.reject}
        before = look.n
    return Characteristics(passes, fails, sum(alive.values()), repeats)


def _compute_binomial(n: int, q: float) -> list[float]:
    return [comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]


def find_refuted_rate(looks: Sequence[Look], error: float = 0.05) -> float:
    """Return the largest ``p`` that a pass rules out at that significance level: the claim of a pass."""
    steps = range(_STEPS)  # the probability of a pass increases with p
    return bisect(steps, error, key=lambda step: compute_characteristics(looks, step / _STEPS).passes) / _STEPS


def check_reachable(name: str, looks: Sequence[Look], repeats: int | None = None) -> None:
    """Reject a plan with inconsistent looks, or that cannot pass within a budget of ``repeats``.

    Raises:
        UsageError: with the inconsistent look, or the number of repeats that a pass needs (SK503).
    """
    if not looks:
        raise UsageError(f"plan '{name}' has no looks", fix="at least one: {n, accept, reject}")
    before = Look(n=0, accept=-1, reject=0)
    for look in looks:
        if look.n <= before.n:
            raise UsageError(f"plan '{name}': {look.n} repeats after {before.n}", fix="sort them in ascending order")
        if not 0 <= look.accept < look.reject:
            raise UsageError(
                f"plan '{name}' is never decided after {look.n} repeats: it accepts {look.accept} broken ones and "
                f"rejects {look.reject}",
                fix="accept fewer than reject, and at least 0",
            )
        if look.accept >= look.n:
            raise UsageError(
                f"plan '{name}' passes after {look.n} repeats even if all of them break",
                fix=f"accept: {look.n - 1} or less",
            )
        before = look
    if repeats is not None and repeats < looks[0].n:
        raise UsageError(
            f"SK503: plan '{name}' can never pass: it needs {looks[0].n} repeats, the budget is {repeats}",
            fix=f"a budget of {looks[0].n} repeats or more",
        )


def lower_bound(n: int, broken: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided lower bound of ``p`` (Clopper and Pearson 1934); 0 if no repeat held."""
    _check(n, broken)
    if broken == n:
        return 0.0
    if not broken:
        return float((1 - confidence) ** (1 / n))
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:  # down to the resolution of a double
        if compute_upper_tail(n - broken, n, middle) < 1 - confidence:
            low = middle
        else:
            high = middle
    return middle


def repeats_for(p: float, broken: int = 0, confidence: float = 0.95) -> int:
    """Return the smallest number of repeats, ``broken`` of which broke, with a lower bound of at least ``p``.

    Raises:
        ValueError: ``p`` is not below 1.
    """
    if not 0 <= p < 1:
        raise ValueError("no number of repeats proves certainty")
    n = broken + 1
    while lower_bound(n, broken, confidence) < p:
        n += 1
    return n


def estimate_effective_size(sizes: Sequence[int], correlation: float = 0.3) -> float:
    """Estimate the number of independent repeats equivalent to clusters of these sizes (docs/plans.md)."""
    total = sum(sizes)
    if total == 0:
        return 0.0
    return total / (1 + (sum(m * m for m in sizes) / total - 1) * correlation)


def _check(n: int, broken: int) -> None:
    if n < 1 or not 0 <= broken <= n:
        raise ValueError(f"{broken} of {n} repeats cannot be broken")
