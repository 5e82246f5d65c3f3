"""Shards of equal cost: the same ones wherever they are computed, and none much longer than the mean."""

from __future__ import annotations

import datetime
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.errors import UsageError
from scenario_kit.model.results.evidence import Evidence, VersionKey
from scenario_kit.shards.division import (
    STATIC_SECONDS,
    TRIAL_SECONDS,
    ShardPosition,
    divide,
    estimate_seconds,
    measure_trial_seconds,
    parse_position,
)

KEY = VersionKey(scenario="a", app="b", app_digest="c", images="d", alerts="e", contract="f")
COSTS = st.dictionaries(st.text("abcdef-", min_size=1, max_size=6), st.floats(5, 3600), max_size=40)


@pytest.mark.parametrize(
    ("costs", "count", "expected"),
    [
        ({"a": 1, "b": 1, "c": 1, "d": 1}, 2, [("a", "c"), ("b", "d")]),
        ({"a": 5, "b": 4, "c": 3, "d": 3, "e": 3}, 2, [("a", "d"), ("b", "c", "e")]),
        ({"long": 60, "a": 10, "b": 10, "c": 10}, 2, [("long",), ("a", "b", "c")]),
        ({"a": 1}, 3, [("a",), (), ()]),
        ({}, 2, [(), ()]),
    ],
)
def test_longest_scenario_goes_to_the_shortest_shard(costs, count, expected):
    assert divide(costs, count) == expected


@given(COSTS, st.integers(1, 12))
def test_every_scenario_is_in_one_shard_and_none_is_much_longer_than_the_mean(costs, count):
    shards = divide(costs, count)

    assert sorted(name for shard in shards for name in shard) == sorted(costs)
    assert len(shards) == count
    loads = [sum(costs[name] for name in shard) for shard in shards]
    least = max([sum(costs.values()) / count, *costs.values()], default=0)  # no division is shorter than this
    assert max(loads) <= sum(costs.values()) / count + max(costs.values(), default=0) + 1e-6
    assert max(loads) <= 2 * least + 1e-6


@given(COSTS, st.integers(1, 12), st.randoms())
def test_input_order_does_not_matter(costs, count, chance: random.Random):
    names = list(costs)
    chance.shuffle(names)
    assert divide({name: costs[name] for name in names}, count) == divide(costs, count)


@given(COSTS, st.integers(1, 12))
def test_no_shard_is_empty_with_enough_work(costs, count):
    if len(costs) >= count:
        assert all(divide(costs, count))


def test_at_least_one_shard_is_planned():
    with pytest.raises(UsageError, match="number of shards: 0"):
        divide({"a": 1}, 0)


@pytest.mark.parametrize(("text", "expected"), [("1/1", (1, 1)), ("3/20", (3, 20)), ("20/20", (20, 20))])
def test_positions(text, expected):
    assert parse_position(text) == ShardPosition(*expected)


@pytest.mark.parametrize("text", ["", "3", "0/20", "21/20", "-1/3", "1/0", "a/b", "1/2/3", " 1/2", "1/99999999"])
def test_invalid_shard_position_is_an_error(text):
    with pytest.raises(UsageError, match="is not a shard"):
        parse_position(text)


def evidence(minutes: float, trials: int) -> Evidence:
    return Evidence(
        scenario="a", digest="b", key=KEY, plan="standard", n=5, at_least=0.5, claims=0.5, tier="simulated",
        data_plane="Twin", trials=trials, minutes=minutes, date=datetime.date(2026, 11, 1), kit="0.1.0",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("known", "expected"),
    [(None, None), (evidence(4, 8), 30), (evidence(0, 8), None), (evidence(3, 0), None)],
)
def test_trial_seconds_come_from_evidence(known, expected):
    assert measure_trial_seconds(known) == expected


@pytest.mark.parametrize(
    ("trials", "measured", "expected"),
    [
        ([8, 20], [30.0, 12.0], [240, 240]),
        ([8, 8], [30.0, None], [240, 240]),
        ([1, 2, 1], [10.0, None, 20.0], [10, 30, 20]),
        ([2], [None], [2 * TRIAL_SECONDS]),
        ([0], [None], [0]),
    ],
)
def test_without_evidence_trials_count_as_much_as_those_of_the_others(trials, measured, expected):
    assert estimate_seconds(trials, measured) == [STATIC_SECONDS + each for each in expected]
