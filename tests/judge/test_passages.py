"""Whether trouble left a trace in a component's work: what is drift, what is chance, what is too little to tell."""

import pytest

from scenario_kit.judge.passages import chance, pooled, telling, traces
from scenario_kit.model.observation import Passage, Work

BOUNDS = (10.0, 100.0, 1000.0)


def work(requests=3000.0, errors=0.0, seconds=300.0, within=(0.5, 0.9, 1.0)):
    counts = tuple((bound, share * requests) for bound, share in zip(BOUNDS, within, strict=True))
    return Work(seconds=seconds, requests=requests, errors=errors, within=counts)


def passage(during, before=None):
    return Passage(entity="Deployment/cart", before=before or work(), during=during)


@pytest.mark.parametrize(
    ("during", "told"),
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
def test_what_changed(during, told):
    assert [str(trace) for trace in traces(passage(during))] == told


def test_errors_that_were_there_before_are_no_trace():
    assert traces(passage(work(errors=90.0), work(errors=90.0))) == []
    assert [t.what for t in traces(passage(work(errors=90.0), work(errors=900.0)))] == ["errors"]


def test_few_requests_tell_nothing_and_many_repeats_of_few_do():
    few = passage(work(requests=40.0), work(requests=40.0))
    assert not telling(few)
    assert telling(pooled([few] * 3))
    assert pooled([few] * 3).before == work(requests=120.0, seconds=900.0)


def test_silence_tells_where_requests_would_have_come():
    assert telling(passage(Work(seconds=300.0, requests=0.0)))
    assert not telling(passage(Work(seconds=3.0, requests=0.0)))


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
def test_the_chance_of_two_counts(one, other, exposures, expected):
    """Against the binomial distribution, by hand."""
    assert chance(one, other, *exposures) == pytest.approx(min(1.0, expected))
