"""Agreement between repeats, against the worked numbers of the reference."""

from math import inf

import pytest

from scenario_kit.campaign.results.repeatability import (
    compute_jaccard,
    discriminates,
    find_quantile,
    measure_order,
    propose_budget,
    summarise_onsets,
)


def sets(*texts):
    return [frozenset(text) for text in texts]


@pytest.mark.parametrize(
    ("times", "middle", "p95", "desired"),
    [
        ((94, 101, 118), 101, 118, 240),
        ((62, 64, 70, 71, 95), 70, 95, 210),
        ((10,), 10, 10, 90),
        ((10, inf), 10, inf, inf),
    ],
)
def test_onsets(times, middle, p95, desired):
    seen = summarise_onsets(times)
    assert (seen.median, seen.p95, seen.budget) == (middle, p95, desired)
    assert (seen.fired, seen.n) == (sum(t != inf for t in times), len(times))


def test_p95_of_few_values_is_their_maximum():
    assert all(find_quantile(range(1, n + 1), 0.95) == n for n in range(1, 20))
    assert find_quantile(range(1, 101), 0.95) == 95
    assert find_quantile(range(1, 101), 1) == 100


@pytest.mark.parametrize(("times", "share"), [((), 0.5), ((1,), 0.0), ((1,), 1.1)])
def test_quantile_of_nothing_is_an_error(times, share):
    with pytest.raises(ValueError, match="quantile"):
        find_quantile(times, share)


@pytest.mark.parametrize(
    ("fired", "mean"),
    [
        (("AB", "AB", "ABC"), 7 / 9), (("AB", "AB", "AB", "AB", "A"), 0.8), (("", ""), 1.0), (("A",), 1.0),
        (("A", "B"), 0.0),
    ],
)  # fmt: skip
def test_similarity_of_alert_sets(fired, mean):
    assert compute_jaccard(sets(*fired)) == pytest.approx(mean)


def test_order_of_onsets():
    assert measure_order((60, 75, 90, 60, 120), (75, 60, 60, 75, 75), tick=30) == pytest.approx(0.8)
    assert measure_order((inf,), (60,), tick=30) == 0
    assert measure_order((inf,), (inf,), tick=30) == 1


def test_discrimination_is_across_minus_within_distance():
    assert discriminates(sets("ab", "ab"), sets("abc", "abc")) == pytest.approx(1 / 3)
    assert discriminates(sets("ab", "ab"), sets("ab", "ab")) == pytest.approx(0)


def test_proposed_budget_rounds_up_observed_times():
    for last in (1, 59, 60, 61, 299):
        assert propose_budget([last]) % 30 == 0
        assert propose_budget([last]) >= max(2 * last, last + 60)


def test_onsets_of_different_repeat_counts_are_refused():
    with pytest.raises(ValueError, match="zip"):
        measure_order((60, 75), (60,), tick=30)


def test_scenario_without_repeats_discriminates_nothing():
    assert discriminates(sets("ab"), []) == 0
    assert discriminates([], []) == 0
