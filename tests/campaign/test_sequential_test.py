"""Sequential plans and bounds, against the tables of the reference and against enumeration of every outcome."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv

from scenario_kit.campaign.planning.sequential_test import (
    FIVE_THEN_FIVE,
    ONCE,
    REPRODUCIBLE,
    Look,
    check_reachable,
    compute_characteristics,
    decide,
    estimate_effective_size,
    find_refuted_rate,
    lower_bound,
    repeats_for,
)
from scenario_kit.errors import UsageError
from scenario_kit.model import Verdict
from scenario_kit.scoring.statistics.intervals import compute_wilson_interval

PASS, FAIL, INCONCLUSIVE = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("held", "broken", "verdict", "more"),
    [
        (0, 0, None, 5), (4, 0, None, 1), (5, 0, PASS, 0),
        (3, 1, None, 1), (4, 1, None, 5), (8, 1, None, 1), (9, 1, PASS, 0),
        (8, 2, INCONCLUSIVE, 0), (7, 3, FAIL, 0),
        (0, 2, FAIL, 0), (3, 2, FAIL, 0),
        # Ran further than the first look: only the last one may decide.
        (6, 0, None, 4), (10, 0, PASS, 0),
    ],
)  # fmt: skip
def test_five_then_five(held, broken, verdict, more):
    assert decide(FIVE_THEN_FIVE, held, broken) == (verdict, more)


TABLE = {
    0.99: (0.9967, 0.0010, 0.0023, 5.24), 0.98: (0.9873, 0.0042, 0.0085, 5.46), 0.95: (0.9313, 0.0272, 0.0415, 6.02),
    0.90: (0.7842, 0.1082, 0.1076, 6.64), 0.85: (0.6174, 0.2293, 0.1533, 6.96), 0.80: (0.4619, 0.3703, 0.1678, 7.05),
    0.70: (0.2286, 0.6417, 0.1297, 6.80), 0.60: (0.0979, 0.8349, 0.0672, 6.30), 0.50: (0.0361, 0.9395, 0.0244, 5.78),
}  # fmt: skip


@pytest.mark.parametrize("p", TABLE)
def test_operating_characteristics_of_the_merge_plan(p):
    passes, fails, inconclusive, repeats = compute_characteristics(FIVE_THEN_FIVE, p)
    assert (passes, fails, inconclusive) == pytest.approx(TABLE[p][:3], abs=6e-5)
    assert repeats == pytest.approx(TABLE[p][3], abs=6e-3)
    assert passes == pytest.approx(p**5 + 5 * p**9 * (1 - p))


def test_reliable_scenario_rarely_fails():
    good = compute_characteristics(FIVE_THEN_FIVE, 0.98)
    assert good.fails < 0.005
    assert good.fails + good.inconclusive < 0.015


@pytest.mark.parametrize("p", [0.3, 0.5, 0.9, 0.98])
def test_characteristics_match_enumeration(p):
    total = dict.fromkeys((PASS, FAIL, INCONCLUSIVE), 0.0)
    for outcome in product((True, False), repeat=10):
        chance = 1.0
        for held in outcome:
            chance *= p if held else 1 - p
        first = decide(FIVE_THEN_FIVE, sum(outcome[:5]), 5 - sum(outcome[:5])).verdict
        total[first or decide(FIVE_THEN_FIVE, sum(outcome), 10 - sum(outcome)).verdict] += chance
    assert compute_characteristics(FIVE_THEN_FIVE, p)[:3] == pytest.approx(
        (total[PASS], total[FAIL], total[INCONCLUSIVE])
    )


@given(st.lists(st.booleans(), min_size=10, max_size=10))
def test_early_stopping_keeps_the_verdict(outcome):
    """Repeat by repeat, as they end, against whole looks."""
    held = broken = 0
    verdict = None
    for each in outcome:
        held, broken = held + each, broken + (not each)
        verdict = decide(FIVE_THEN_FIVE, held, broken).verdict
        if verdict is not None:
            break
    by_looks = (
        decide(FIVE_THEN_FIVE, sum(outcome[:5]), 5 - sum(outcome[:5])).verdict
        or decide(FIVE_THEN_FIVE, sum(outcome), 10 - sum(outcome)).verdict
    )
    assert verdict == by_looks


def test_pass_refutes_low_hold_rates():
    assert find_refuted_rate(FIVE_THEN_FIVE) == pytest.approx(0.5308, abs=5e-5)
    assert compute_characteristics(REPRODUCIBLE, 0.80).passes == pytest.approx(0.0493, abs=6e-5)
    assert compute_characteristics(REPRODUCIBLE, 0.98).passes == pytest.approx(0.977, abs=6e-4)


@pytest.mark.parametrize(
    ("n", "broken", "bound"),
    [
        (3, 0, 0.3684), (5, 0, 0.5493), (10, 0, 0.7411), (59, 0, 0.9505), (5, 1, 0.3426), (10, 1, 0.6058),
        (10, 2, 0.4931), (20, 1, 0.7839), (4, 4, 0.0),
    ],
)  # fmt: skip
def test_exact_lower_bounds(n, broken, bound):
    assert lower_bound(n, broken) == pytest.approx(bound, abs=6e-5)


@pytest.mark.parametrize(
    ("p", "needed"),
    [(0.5, (5, 8, 11, 13)), (0.7, (9, 14, 19, 24)), (0.8, (14, 22, 30, 37)), (0.9, (29, 46, 61, 76))],
)
def test_required_repeats_match_the_table(p, needed):
    assert tuple(repeats_for(p, broken) for broken in range(4)) == needed


@pytest.mark.parametrize(("n", "broken", "low"), [(3, 0, 0.4385), (5, 0, 0.5655), (10, 1, 0.5958), (20, 1, 0.7639)])
def test_intervals_for_display(n, broken, low):
    assert compute_wilson_interval(n, broken)[0] == pytest.approx(low, abs=6e-5)
    assert compute_wilson_interval(n, broken)[1] <= 1


@pytest.mark.parametrize(
    ("sizes", "worth"), [((5,), 2.27), ((2, 2, 1), 4.03), ((1,) * 5, 5.0), ((5, 5), 4.55), ((2,) * 5, 7.69), ((), 0)]
)
def test_effective_size_discounts_shared_clusters(sizes, worth):
    assert estimate_effective_size(sizes) == pytest.approx(worth, abs=6e-3)


@pytest.mark.parametrize(
    ("looks", "repeats", "message"),
    [
        ((), None, "no looks"),
        ((Look(n=5, accept=0, reject=1), Look(n=5, accept=0, reject=1)), None, "5 repeats after 5"),
        ((Look(n=3, accept=1, reject=1),), None, "is never decided after 3"),
        (FIVE_THEN_FIVE, 4, "SK503.*needs 5 repeats, the budget is 4"),
    ],
)
def test_unreachable_plan_is_refused(looks, repeats, message):
    with pytest.raises(UsageError, match=message):
        check_reachable("mine", looks, repeats)


@pytest.mark.parametrize("looks", [ONCE, FIVE_THEN_FIVE, REPRODUCIBLE])
def test_built_in_plans_are_reachable(looks):
    check_reachable("any", looks, looks[0].n)


@pytest.mark.parametrize(("n", "broken"), [(0, 0), (3, 4), (3, -1)])
def test_impossible_counts(n, broken):
    with pytest.raises(ValueError, match="cannot be broken"):
        lower_bound(n, broken)


@pytest.mark.parametrize(("held", "broken"), [(-1, 0), (0, -1)])
def test_repeats_are_counted_from_zero(held, broken):
    with pytest.raises(ValueError, match="must not be negative"):
        decide(ONCE, held, broken)


@pytest.mark.parametrize(
    ("held", "broken", "decision"),
    [
        (4, 2, (None, 4)),  # one of them may have run beyond the first look
        (3, 3, (FAIL, 0)),
        (4, 3, (FAIL, 0)),
        (10, 2, (INCONCLUSIVE, 0)),
        (11, 1, (PASS, 0)),
        (8, 4, (INCONCLUSIVE, 0)),
        (8, 5, (INCONCLUSIVE, 0)),
        (6, 5, (FAIL, 0)),
    ],
)
def test_decide_accepts_more_repeats_than_a_look(held, broken, decision):
    assert decide(FIVE_THEN_FIVE, held, broken) == decision


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5])
def test_no_number_of_repeats_shows_a_certainty(p):
    with pytest.raises(ValueError, match="certainty"):
        repeats_for(p)


def test_trivial_claim_needs_one_repeat():
    assert [repeats_for(0), repeats_for(0.0, broken=3), repeats_for(0.05), repeats_for(0.06)] == [1, 4, 1, 2]


@pytest.mark.parametrize(
    ("n", "broken", "interval"),
    [(10, 1, (0.5958, 0.9821)), (10, 5, (0.2366, 0.7634)), (5, 0, (0.5655, 1.0)), (5, 5, (0.0, 0.4345))],
)
def test_wilson_interval_matches_reference(n, broken, interval):
    assert compute_wilson_interval(n, broken) == pytest.approx(interval, abs=6e-5)
    with pytest.raises(ValueError, match="1 broken of 0"):
        compute_wilson_interval(0, 1)


@pytest.mark.parametrize(
    ("looks", "repeats", "message"),
    [
        ((Look(n=0, accept=0, reject=1),), None, "0 repeats after 0"),
        ((Look(n=3, accept=-1, reject=1),), None, "accepts -1 broken ones and rejects 1"),
        ((Look(n=3, accept=2, reject=1),), None, "accepts 2 broken ones and rejects 1"),
        ((Look(n=3, accept=3, reject=4),), None, "passes after 3 repeats even if all of them break"),
        ((Look(n=3, accept=0, reject=1), Look(n=2, accept=0, reject=1)), None, "2 repeats after 3"),
        ((Look(n=3, accept=0, reject=1), Look(n=4, accept=1, reject=1)), None, "decided after 4"),
    ],
)
def test_inconsistent_looks_are_refused(looks, repeats, message):
    with pytest.raises(UsageError, match=message):
        check_reachable("mine", looks, repeats)


def test_looks_at_the_bounds_are_accepted():
    check_reachable("mine", (Look(n=1, accept=0, reject=1),), 1)
    check_reachable("mine", (Look(n=3, accept=2, reject=3), Look(n=4, accept=3, reject=4)), 9)


def test_correlation_of_repeats_is_configurable():
    assert estimate_effective_size([5], 0.0) == 5
    assert estimate_effective_size([5], 1.0) == 1
    assert lower_bound(5, 0, 0.5) == pytest.approx(0.5**0.2)


@given(st.integers(1, 400), st.floats(0, 1), st.sampled_from((0.9, 0.95, 0.99)))
def test_lower_bound_matches_scipy(n, share, confidence):
    broken = round(share * n)
    expected = float(betaincinv(n - broken, broken + 1, 1 - confidence)) if broken < n else 0.0
    assert lower_bound(n, broken, confidence) == pytest.approx(expected, rel=1e-9)
