"""Work of a component before the fault and after the repair, where no alert rule tells."""

import pytest

from scenario_kit.judge.repair.degradation import find_degradation
from scenario_kit.model.runtime.observation import Work

BOUNDS = (10.0, 50.0, 100.0, 250.0, 500.0)


def work(requests=300.0, errors=0.0, at=10.0, share=1.0, seconds=300.0):
    """Build the work of a component whose requests take ``at`` ms; those not in ``share`` take 10 ms."""
    within = tuple((b, requests * ((1 - share) * (b >= 10) + share * (b >= at))) for b in BOUNDS)
    return Work(seconds=seconds, requests=requests, errors=errors, within=within)


@pytest.mark.parametrize(
    ("after", "worse"),
    [
        (work(), ""),
        (work(errors=30.0), "errors 0.0% → 10.0%"),
        (work(errors=15.0), "errors 0.0% → 5.0%"),
        (work(errors=2.0), ""),
        (work(at=500.0), "slow requests 0% above 10 ms → 100% above 100 ms"),
        (work(at=500.0, share=0.4), "slow requests 0% above 10 ms → 40% above 100 ms"),
        (work(at=500.0, share=0.1), ""),
        (work(at=50.0), ""),
        (work(requests=100.0), "requests 1/s → 0.333/s"),
        (work(requests=200.0), ""),
        (work(requests=0.0), "requests 1/s → 0/s"),
        (None, "requests 1/s → 0/s"),
        (work(requests=900.0), ""),
    ],
    ids=[
        "as before", "failures", "few failures", "chance", "slow", "some slow", "a few slow", "little slower",
        "fewer", "somewhat fewer", "silent", "no series", "more",
    ],
)  # fmt: skip
def test_clear_degradation_is_found(after, worse):
    found = find_degradation({"web": work()}, {} if after is None else {"web": after})
    assert {name: str(change) for name, change in found.items()} == ({"web": worse} if worse else {})


def test_rare_failures_count_if_they_are_all():
    before, after = work(requests=20.0), work(requests=20.0, errors=20.0)
    assert set(find_degradation({"web": before, "ad": before}, {"web": after, "ad": before})) == {"web"}
    assert find_degradation({"web": work(requests=4.0)}, {"web": work(requests=4.0, errors=4.0)}) == {}


def test_former_failures_and_better_service_are_no_degradation():
    assert find_degradation({"web": work(errors=30.0)}, {"web": work(errors=30.0)}) == {}
    assert find_degradation({"web": work(errors=30.0, at=500.0)}, {"web": work()}) == {}


def test_durations_are_not_compared_under_another_load():
    assert find_degradation({"web": work()}, {"web": work(at=500.0)}, same_load=False) == {}


def test_unmeasured_durations_and_new_components_are_ignored():
    bare = Work(seconds=300.0, requests=300.0)
    assert find_degradation({"web": bare}, {"web": bare, "ad": work(errors=300.0)}) == {}
