"""Means with their errors, pass@k and times: worked numbers, and what always holds."""

from __future__ import annotations

from math import inf, isinf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.scoring.statistics.estimate import compute_task_error, estimate_mean
from scenario_kit.scoring.statistics.intervals import compute_bootstrap_interval, compute_wilson_interval
from scenario_kit.scoring.statistics.pass_at_k import compute_pass_at_k
from scenario_kit.scoring.statistics.times import compute_mean_time, compute_restricted_mean, summarise_times
from tests.scoring.truths import PROPERTY


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [
        (10, 3, 1, 0.3), (10, 3, 2, 0.5333), (10, 3, 3, 0.7083), (10, 3, 5, 0.9167), (10, 3, 8, 1.0),
        (3, 1, 1, 0.3333), (3, 1, 2, 0.6667), (3, 1, 3, 1.0), (4, 4, 2, 1.0), (4, 0, 4, 0.0),
        (420, 58, 1, 0.1381), (420, 15, 1, 0.0357),
    ],
)  # fmt: skip
def test_pass_at_k(n: int, c: int, k: int, expected: float) -> None:
    assert round(compute_pass_at_k(n, c, k), 4) == expected


@pytest.mark.parametrize(("n", "c", "k"), [(3, 1, 4), (3, 1, 0), (3, 4, 1), (0, 0, 1), (3, -1, 1)])
def test_pass_at_k_of_invalid_counts_is_an_error(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="runs"):
        compute_pass_at_k(n, c, k)


@PROPERTY
@given(st.integers(1, 30), st.integers(0, 30), st.integers(1, 30))
def test_pass_at_k_is_monotonic(n: int, c: int, k: int) -> None:
    c, k = min(c, n), min(k, n)
    values = [compute_pass_at_k(n, c, each) for each in range(1, k + 1)]
    assert all(0 <= value <= 1 for value in values)
    assert values == sorted(values)


def test_runs_without_an_answer_stay_in_the_denominator() -> None:
    graded = [0.5] * 7
    assert estimate_mean({"one": [*graded, 0.0, 0.0, 0.0]}).mean == pytest.approx(0.35)  # type: ignore[union-attr]


def test_errors_of_a_macro_mean() -> None:
    found = estimate_mean({"a": [0.3], "b": [0.0], "c": [1.0], "d": [0.6]})
    assert found is not None
    assert (found.mean, found.runs, found.incidents, found.method) == (pytest.approx(0.475), 4, 4, "Bootstrap")
    assert round(found.standard_error or 0, 4) == 0.2136
    assert round(found.population_error or 0, 4) == 0.1850
    assert found.task_error == found.standard_error
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < found.mean < found.high <= 1


def test_three_repeats() -> None:
    found = estimate_mean({"a": [1.0, 0.5, 0.0]})
    assert found is not None
    assert (found.mean, found.runs, found.incidents) == (0.5, 3, 1)


def test_mean_is_over_incidents_not_over_runs() -> None:
    found = estimate_mean({"a": [1.0, 1.0, 1.0], "b": [0.0]})
    assert found is not None
    assert (found.mean, found.method) == (0.5, "Wilson")
    assert (found.low, found.high) == compute_wilson_interval(2, 1)


def test_count_estimate_uses_the_bootstrap() -> None:
    found = estimate_mean({"a": [1.0], "b": [0.0], "c": [1.0]}, share=False)
    assert found is not None
    assert found.method == "Bootstrap"


def test_estimate_needs_two_values_for_an_interval() -> None:
    assert estimate_mean({"a": []}) is None
    one = estimate_mean({"a": [0.4]})
    assert one is not None
    assert (one.mean, one.standard_error, one.low, one.method) == (0.4, None, None, "None")


def test_error_within_tasks() -> None:
    assert compute_task_error([[0.0, 1.0], [1.0, 1.0]]) == pytest.approx((0.5 / 2) ** 0.5 / 2)
    assert compute_task_error([[1.0]]) is None


def test_equal_seeds_give_equal_intervals() -> None:
    values = [0.1, 0.47, 0.93, 0.31, 0.77, 0.02, 0.59, 0.21]
    assert compute_bootstrap_interval(values, 1) == compute_bootstrap_interval(values, 1)
    assert compute_bootstrap_interval(values, 1) != compute_bootstrap_interval(values, 2)
    with pytest.raises(ValueError, match="two"):
        compute_bootstrap_interval([1.0])


@PROPERTY
@given(st.dictionaries(st.text(max_size=2), st.lists(st.floats(0, 1), max_size=4), max_size=5))
def test_bounds(values: dict[str, list[float]]) -> None:
    found = estimate_mean(values)
    if found is None:
        assert not any(values.values())
        return
    low, high = found.low if found.low is not None else 0.0, found.high if found.high is not None else 1.0
    assert 0 <= low <= high <= 1
    assert -1e-9 <= found.mean <= 1 + 1e-9


def test_times_of_two_successes_and_two_failures() -> None:
    times = [60.0, 120.0, None, None]
    found = summarise_times(times, 600)
    assert (found.mean, found.successes, found.runs, found.restricted) == (90.0, 2, 4, 345.0)
    assert compute_mean_time(times) == 90
    assert compute_restricted_mean(times, 600) == 345


def test_mean_time_without_success_is_infinite() -> None:
    assert isinf(compute_mean_time([None]))
    assert compute_mean_time([]) == inf
    found = summarise_times([None, None], 600)
    assert (found.mean, found.restricted) == (None, 600)
    with pytest.raises(ValueError, match="cap"):
        compute_restricted_mean([1.0], 0)


@PROPERTY
@given(st.lists(st.one_of(st.none(), st.floats(0, 5000)), min_size=1, max_size=9), st.floats(1, 1000))
def test_failure_never_lowers_the_restricted_mean(times: list[float | None], cap: float) -> None:
    found = compute_restricted_mean(times, cap)
    assert 0 <= found <= cap + 1e-9
    assert compute_restricted_mean([None, *times[1:]], cap) >= found - 1e-9
