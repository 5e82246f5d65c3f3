"""Intervals of values with presence: what a PromQL expression can return for any series."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import inf, isnan, nextafter, pi
from typing import Final, NamedTuple


class ValueBounds(NamedTuple):
    """The least and the greatest value of a result, and what is known of its presence.

    ``sure`` if there always is a result, ``never`` if there is none. ``counts`` marks a count of series or a constant
    per series: its mere presence carries information. ``top`` bounds the largest value from below, for a result of
    several series. ``selects`` if a comparison decides which series are there. ``single`` if there is at most one
    series, ``bare`` if it has no labels, ``labelled`` if each one has some.
    """

    low: float = -inf
    high: float = inf
    sure: bool = False
    counts: bool = False
    never: bool = False
    top: float = -inf
    bare: bool = False
    labelled: bool = False
    selects: bool = False
    single: bool = False

    @property
    def largest(self) -> ValueBounds:
        """The bounds of the largest value of the result."""
        return self._replace(low=max(self.low, self.top))

    def span(self, low: float, high: float) -> ValueBounds:
        """Return the same presence and labels with other bounds; ``top`` is forgotten."""
        return self._replace(low=low, high=high, top=-inf)


ANY: Final = ValueBounds()
NOTHING: Final = ValueBounds(never=True)
COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">": lambda a, b: a > b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
_OPPOSITE: Final = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "==": "!=", "!=": "=="}


def holds_always(bounds: ValueBounds, operator: str, other: ValueBounds) -> bool:
    """Return whether a comparison holds for all pairs of values."""
    match operator:
        case ">" | ">=":
            return COMPARISONS[operator](bounds.low, other.high)
        case "<" | "<=":
            return COMPARISONS[operator](bounds.high, other.low)
        case "==":
            return bounds.low == bounds.high == other.low == other.high
        case _:
            return bounds.high < other.low or bounds.low > other.high


def holds_never(bounds: ValueBounds, operator: str, other: ValueBounds) -> bool:
    """Return whether a comparison holds for no pair of values."""
    return holds_always(bounds, _OPPOSITE[operator], other)


def calculate(operator: str, left: ValueBounds, right: ValueBounds) -> tuple[float, float]:
    """Return the bounds of an arithmetic operation on two values."""
    match operator:
        case "+":
            return _add(left.low, right.low, -inf), _add(left.high, right.high, inf)
        case "-":
            return _add(left.low, -right.high, -inf), _add(left.high, -right.low, inf)
        case "*":
            return _multiply(left, right)
        case "/":
            return _divide(left, right)
        case "%":
            return _take_remainder(left, right)
        case "^":
            return _raise(left, right)
        case "atan2":
            return -pi, pi
        case _:
            return -inf, inf


def _add(one: float, other: float, undefined: float) -> float:
    total = one + other
    return undefined if isnan(total) else total


def _multiply(left: ValueBounds, right: ValueBounds) -> tuple[float, float]:
    corners = [0.0 if 0 in (a, b) else a * b for a, b in product(left[:2], right[:2])]
    return min(corners), max(corners)


def _divide(left: ValueBounds, right: ValueBounds) -> tuple[float, float]:
    if right.low > 0 or right.high < 0:
        return _multiply(left, right.span(_invert(right.high), _invert(right.low)))
    if right.low >= 0:  # a quotient by zero is infinite, or no number
        return (0 if left.low >= 0 else -inf), (0 if left.high <= 0 else inf)
    return -inf, inf


def _invert(value: float) -> float:
    return 0.0 if value in (inf, -inf) else 1 / value


def _take_remainder(left: ValueBounds, right: ValueBounds) -> tuple[float, float]:
    most = nextafter(max(abs(right.low), abs(right.high)), 0)  # less than the divisor, with the sign of the dividend
    return (0 if left.low >= 0 else max(left.low, -most)), (0 if left.high <= 0 else min(left.high, most))


def _raise(left: ValueBounds, right: ValueBounds) -> tuple[float, float]:
    exponent = right.low if right.low == right.high else None
    if exponent is not None and exponent >= 0 and exponent % 2 == 0:
        ends = [_power(abs(left.low), exponent), _power(abs(left.high), exponent)]
        return (0 if left.low <= 0 <= left.high and exponent else min(ends)), max(ends)
    if left.low < 0:
        return -inf, inf
    corners = [_power(base, power) for base, power in product(left[:2], right[:2])]
    return min(corners), max(corners)


def _power(base: float, exponent: float) -> float:
    try:
        return float(base**exponent)
    except (OverflowError, ZeroDivisionError):
        return inf
