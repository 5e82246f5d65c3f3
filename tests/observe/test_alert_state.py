from __future__ import annotations

import pytest

from scenario_kit.model import Interval
from scenario_kit.observe.alert_state import Alert, RuleEvaluation, fire

LABELS = (("pod", "a"),)
Pair = tuple[float, float | None]


def ticks(pattern: str, start: float = 0) -> list[RuleEvaluation]:
    """``x`` active, ``.`` not, ``!`` the evaluation fails; one character per 15 s."""
    meaning = {"x": frozenset({LABELS}), ".": frozenset(), "!": None}
    return [RuleEvaluation(start + 15 * i, meaning[c]) for i, c in enumerate(pattern)]


def pairs(intervals: tuple[Interval, ...]) -> list[Pair]:
    return [(i.start, i.end) for i in intervals]


@pytest.mark.parametrize(
    ("pattern", "for_seconds", "pending", "firing"),
    [
        ("....", 30, [], []),
        ("x", 30, [(0, None)], []),
        ("xx", 30, [(0, None)], []),
        ("xxx", 30, [(0, 30)], [(30, None)]),
        ("xxxx.", 30, [(0, 30)], [(30, 60)]),
        ("xx.xx", 30, [(0, 30), (45, None)], []),
        ("xxx.xxx", 30, [(0, 30), (60, 90)], [(30, 45), (90, None)]),
        ("x.x", 0, [], [(0, 15), (30, None)]),
        (".xxx", 40, [(15, None)], []),  # 40 s is between two ticks: it fires at the later one
        (".xxxx", 40, [(15, 60)], [(60, None)]),
        ("xx!xx", 60, [(0, 60)], [(60, None)]),  # a failed tick keeps the timer
        ("xxx!!", 30, [(0, 30)], [(30, None)]),  # and a firing alert
        ("xxx!.", 30, [(0, 30)], [(30, 60)]),
        ("x!x", 30, [(0, 30)], [(30, None)]),
        ("x!!", 30, [(0, None)], []),  # nothing begins to fire at a failed tick
        ("!!x", 0, [], [(30, None)]),
    ],
)
def test_patterns(pattern: str, for_seconds: float, pending: list[Pair], firing: list[Pair]) -> None:
    alert = fire({}, ticks(pattern), for_seconds).get(LABELS, Alert())
    got_pending, got_firing = alert.intervals
    assert (pairs(got_pending), pairs(got_firing)) == (pending, firing)


def test_label_sets_are_apart() -> None:
    other = (("pod", "b"),)
    state = fire(
        {},
        [
            RuleEvaluation(0, frozenset({LABELS})),
            RuleEvaluation(15, frozenset({LABELS, other})),
            RuleEvaluation(30, frozenset()),
        ],
        15,
    )
    assert pairs(state[LABELS].intervals[1]) == [(15, 30)]
    assert pairs(state[other].intervals[1]) == []
    assert pairs(state[other].intervals[0]) == [(15, 30)]


@pytest.mark.parametrize("cut", range(9))
def test_state_carries_on_anywhere(cut: int) -> None:
    pattern = "xx.xxx!x"
    whole = fire({}, ticks(pattern), 30)
    parts = fire(fire({}, ticks(pattern[:cut]), 30), ticks(pattern[cut:], 15 * cut), 30)
    assert parts == whole
