"""Traces of propagation in a component's traffic: drift, chance, and insufficient data."""

import pytest

from scenario_kit.judge.alerts.propagation_traffic import (
    compute_chance,
    find_traces,
    has_enough_requests,
    pool_passages,
)
from scenario_kit.model import Reference
from scenario_kit.model.runtime.observation import Passage, Work

BOUNDS = (10.0, 100.0, 1000.0)


def work(requests=3000.0, errors=0.0, seconds=300.0, within=(0.5, 0.9, 1.0)):
    counts = tuple((bound, share * requests) for bound, share in zip(BOUNDS, within, strict=True))
    return Work(seconds=seconds, requests=requests, errors=errors, within=counts)


def passage(during, before=None):
    return Passage(entity=Reference("Deployment", "cart"), before=before or work(), during=during)


@pytest.mark.parametrize(
    ("during", "reported"),
    [
        (work(), []),
        (work(requests=6000.0, seconds=600.0), []),
        (work(errors=1200.0), ["errors 0.0% → 40.0%"]),
        (work(errors=10.0), []),  # significant, and a third of a percent
        (work(within=(0.1, 0.4, 1.0)), ["durations half in 10 ms → half in 1 s"]),
        (work(within=(0.49, 0.9, 1.0)), []),
        (work(requests=1500.0), ["requests 10/s → 5/s"]),
        (work(requests=2950.0), []),
        (Work(seconds=300.0, requests=0.0), ["requests 10/s → 0/s"]),
        (work(errors=900.0, within=(0.1, 0.2, 0.4)), ["errors 0.0% → 30.0%", "durations half in 10 ms → half in more"]),
    ],
    ids=["same", "longer", "failing", "hardly", "slow", "hardly slow", "less", "hardly less", "silent", "both"],
)
def test_find_traces_reports_significant_changes(during, reported):
    assert [str(trace) for trace in find_traces(passage(during))] == reported


def test_baseline_errors_are_no_trace():
    assert find_traces(passage(work(errors=90.0), work(errors=90.0))) == []
    many = work(requests=300000.0, seconds=30000.0, errors=9000.0)
    few_more = work(requests=300000.0, seconds=30000.0, errors=10000.0)
    assert find_traces(passage(few_more, many)) == []  # significant, and a third of a percent of three
    assert [t.what for t in find_traces(passage(work(errors=90.0), work(errors=900.0)))] == ["errors"]


def test_few_requests_are_no_signal_unless_repeated():
    few = passage(work(requests=40.0), work(requests=40.0))
    assert not has_enough_requests(few)
    assert has_enough_requests(pool_passages([few] * 3))
    assert pool_passages([few] * 3).before == work(requests=120.0, seconds=900.0)


def test_silence_counts_only_with_enough_requests():
    assert has_enough_requests(passage(Work(seconds=300.0, requests=0.0)))
    assert not has_enough_requests(passage(Work(seconds=3.0, requests=0.0)))


@pytest.mark.parametrize(
    ("one", "other", "exposures", "expected"),
    [
        (0, 0, (1.0, 1.0), 1.0),
        (5, 5, (1.0, 1.0), 1.0),
        (0, 10, (1.0, 1.0), 2 * 0.5**10),
        (1, 9, (1.0, 1.0), 2 * 11 * 0.5**10),
        (0, 4, (1.0, 3.0), 2 * 0.75**4),
        (4, 0, (1.0, 3.0), 2 * 0.25**4),
        (3, 3, (1.0, 0.0), 1.0),
    ],
)
def test_chance_of_two_counts(one, other, exposures, expected):
    """Comparison with the binomial distribution."""
    assert compute_chance(one, other, *exposures) == pytest.approx(min(1.0, expected))


@pytest.mark.parametrize(
    ("during", "what"),
    [
        (work(requests=3000.0, errors=15.0), ["errors"]),
        (work(requests=3000.0, errors=14.0), []),
        (work(requests=100.0, seconds=10.0, errors=1.0), []),  # large enough, and by chance
        (work(within=(0.48, 0.9, 1.0)), []),  # large enough, and by chance
        (work(within=(0.461, 0.9, 1.0)), []),  # once in fifty times by chance
        (work(within=(0.455, 0.9, 1.0)), ["durations"]),
        (work(requests=2840.0), []),  # large enough, and by chance
        (work(requests=2700.0), ["requests"]),
        (work(requests=3300.0), ["requests"]),
        (work(requests=30000.0, seconds=3000.0 * 0.96), []),  # significant, and too little
    ],
)
def test_trace_must_be_large_and_significant(during, what):
    assert [trace.what for trace in find_traces(passage(during))] == what


@pytest.mark.parametrize(
    ("before", "seconds", "enough"),
    [
        (work(requests=100.0), 300.0, True),
        (work(requests=99.0), 300.0, False),
        (work(requests=200.0), 150.0, True),
        (work(requests=198.0), 150.0, False),
        (work(requests=100.0, seconds=0.0), 1.0, True),
        (work(requests=100.0, seconds=0.0), 0.5, False),
    ],
)
def test_enough_requests_depends_on_rate_and_time(before, seconds, enough):
    assert has_enough_requests(passage(Work(seconds=seconds, requests=0.0), before)) is enough


def test_work_without_requests_has_no_error_share():
    assert find_traces(passage(Work(seconds=300.0, requests=0.0), Work(seconds=300.0, requests=0.0))) == []
    assert [t.what for t in find_traces(passage(work(), Work(seconds=300.0, requests=0.0)))] == ["requests"]


def test_repeats_are_added_up_bound_by_bound():
    one = Work(seconds=100.0, requests=10.0, errors=1.0, within=((100.0, 6.0), (10.0, 4.0)))
    other = Work(seconds=50.0, requests=20.0, errors=2.0, within=((10.0, 5.0), (1000.0, 20.0)))
    found = pool_passages(
        [
            Passage(entity=Reference("Deployment", "a"), before=one, during=other),
            Passage(entity=Reference("Deployment", "x"), before=other, during=one),
        ]
    )
    summed = Work(seconds=150.0, requests=30.0, errors=3.0, within=((10.0, 9.0), (100.0, 6.0), (1000.0, 20.0)))
    assert found == Passage(entity=Reference("Deployment", "a"), before=summed, during=summed)


@pytest.mark.parametrize(
    ("shares", "reported"),
    [((0.5, 0.9, 1.0), "half in 10 ms"), ((0.49, 0.5, 1.0), "half in 100 ms"), ((0.1, 0.2, 0.5), "half in 1 s")],
)
def test_middle_is_the_first_bound_with_half_of_the_requests(shares, reported):
    other = (1.0, 1.0, 1.0) if shares[0] < 0.5 else (0.0, 0.0, 1.0)
    (found,) = find_traces(passage(work(within=shares), work(within=other)))
    assert found.during == reported
