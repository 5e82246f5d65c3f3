"""Geometry of the cost-against-score plot: marks, error bars and ticks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite, log10
from typing import Final, NamedTuple

from scenario_kit.scoring.leaderboard.board import RANKED_BY, Leaderboard, LeaderboardRow

WIDTH: Final = 640
HEIGHT: Final = 320
LEFT: Final = 52
RIGHT: Final = 20
TOP: Final = 14
BOTTOM: Final = 44
#: Padding between the axes and the marks, which would otherwise cover the axis labels.
PAD: Final = 16
#: Marks closer than this are merged and labelled with both numbers.
_NEAR: Final = 20.0
#: Candidates for the x axis, metric and title; the first one that any solver has is drawn.
_AXES: Final = (("cost", "cost of a run"), ("tokens.total", "tokens of a run"), ("turns", "turns of a run"))
#: Ratio of largest to smallest amount from which the x axis is logarithmic.
_WIDE: Final = 30.0


class Tick(NamedTuple):
    """A grid line and its label."""

    at: float
    label: str


class Mark(NamedTuple):
    """One solver, or several that would overlap. ``low`` and ``high`` are the ends of the interval."""

    x: float
    y: float
    low: float
    high: float
    label: str


class CostPlot(NamedTuple):
    """A plot. ``legend`` has number, name and amount of each solver; ``missing`` lists solvers without amounts."""

    axis: str
    logarithmic: bool
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    legend: tuple[tuple[str, str, str], ...]
    missing: tuple[str, ...]


def draw_costs(board: Leaderboard) -> CostPlot | None:
    """Plot each solver's mean score against its mean cost, or against tokens or turns if no run has a cost.

    Returns None if no run recorded any of these.
    """
    axis = next((each for each in _AXES if any(_read_amount(row, each[0]) is not None for row in board.rows)), None)
    if axis is None:
        return None
    shown = [(row, amount) for row in board.rows if (amount := _read_amount(row, axis[0])) is not None]
    amounts = [amount for _, amount in shown]
    logarithmic = min(amounts) > 0 and max(amounts) / min(amounts) >= _WIDE
    scale, ticks = _scale_log(amounts) if logarithmic else _scale_linear(amounts)
    numbered = [(str(number), row, amount) for number, (row, amount) in enumerate(shown, start=1)]
    marks = [_place_mark(number, row, scale(amount)) for number, row, amount in numbered]
    return CostPlot(
        axis=axis[1], logarithmic=logarithmic, across=ticks,
        up=tuple(Tick(_place_score(step / 4), f"{step / 4:g}") for step in range(5)),
        marks=_merge_near(marks),
        legend=tuple((number, row.solver, format_amount(amount)) for number, row, amount in numbered),
        missing=tuple(row.solver for row in board.rows if _read_amount(row, axis[0]) is None),
    )  # fmt: skip


def _read_amount(row: LeaderboardRow, key: str) -> float | None:
    estimate = row.metrics.get(key)
    return estimate.mean if estimate is not None and isfinite(estimate.mean) and estimate.mean >= 0 else None


def _place_mark(number: str, row: LeaderboardRow, x: float) -> Mark:
    estimate = row.metrics.get(RANKED_BY)
    mean = estimate.mean if estimate else 0.0
    low = mean if estimate is None or estimate.low is None else estimate.low
    high = mean if estimate is None or estimate.high is None else estimate.high
    return Mark(x, _place_score(mean), _place_score(low), _place_score(high), number)


def _place_score(share: float) -> float:
    return round(TOP + (HEIGHT - TOP - BOTTOM - PAD) * (1 - min(max(share, 0.0), 1.0)), 1)


def _merge_near(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Merge overlapping marks from left to right, at the position of the first."""
    merged: list[Mark] = []
    for mark in sorted(marks, key=lambda each: (each.x, each.y, int(each.label))):
        near = next((m for m in merged if abs(m.x - mark.x) < _NEAR and abs(m.y - mark.y) < _NEAR), None)
        if near is None:
            merged.append(mark)
            continue
        label = ", ".join(sorted((*near.label.split(", "), mark.label), key=int))
        merged[merged.index(near)] = near._replace(
            low=max(near.low, mark.low), high=min(near.high, mark.high), label=label
        )
    return tuple(merged)


def _scale_linear(amounts: Sequence[float]) -> tuple[_Scale, tuple[Tick, ...]]:
    step = _choose_step(max(amounts))
    end = step * max(1, ceil(max(amounts) / step))
    scale = _Scale(0.0, end, logarithmic=False)
    count = round(end / step)
    return scale, tuple(Tick(scale(step * i), format_amount(step * i)) for i in range(count + 1))


def _scale_log(amounts: Sequence[float]) -> tuple[_Scale, tuple[Tick, ...]]:
    first, last = floor(log10(min(amounts))), ceil(log10(max(amounts)))
    scale = _Scale(float(first), float(last), logarithmic=True)
    return scale, tuple(Tick(scale(10.0**power), format_amount(10.0**power)) for power in range(first, last + 1))


def format_amount(amount: float) -> str:
    """Format an amount with four significant digits and a k, M or G suffix."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if amount >= unit:
            return f"{amount / unit:.4g}{letter}"
    return f"{amount:.4g}"


def _choose_step(largest: float) -> float:
    """Choose a tick interval of 1, 2 or 5 times a power of ten that gives at most five intervals."""
    if largest <= 0:
        return 1.0
    power = 10.0 ** floor(log10(largest / 5))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if 5 * factor * power >= largest)


class _Scale(NamedTuple):
    """Maps an amount to an x coordinate."""

    first: float
    last: float
    logarithmic: bool

    def __call__(self, amount: float) -> float:
        value = log10(amount) if self.logarithmic else amount
        return round(LEFT + PAD + (WIDTH - LEFT - RIGHT - 2 * PAD) * (value - self.first) / (self.last - self.first), 1)
