"""Bounds of PromQL's functions and aggregations (https://prometheus.io/docs/prometheus/latest/querying/functions/)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import inf, pi
from typing import Final

from scenario_kit.lint.rules.alerts.query_values.metric_bounds import TIME
from scenario_kit.lint.rules.alerts.query_values.value_bounds import ANY, NOTHING, ValueBounds

#: Functions whose results have fixed bounds, whatever their argument is.
_FIXED: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(
        ("rate", "increase", "irate", "changes", "resets", "stddev_over_time", "stdvar_over_time", "mad_over_time",
         "histogram_count", "histogram_stddev", "histogram_stdvar"), (0, inf),
    ),
    "minute": (0, 59), "hour": (0, 23), "day_of_week": (0, 6), "day_of_month": (1, 31), "day_of_year": (1, 366),
    "days_in_month": (28, 31), "month": (1, 12), "year": (2001, 2286), "timestamp": TIME[:2],
    "sin": (-1, 1), "cos": (-1, 1), "tanh": (-1, 1), "cosh": (1, inf), "acos": (0, pi), "asin": (-pi / 2, pi / 2),
    "atan": (-pi / 2, pi / 2), "acosh": (0, inf), "histogram_fraction": (0, 1),
}  # fmt: skip
#: Functions that keep the bounds of their argument.
_KEEPING: Final = frozenset(
    {"min_over_time", "max_over_time", "avg_over_time", "last_over_time", "first_over_time", "quantile_over_time",
     "sort", "sort_desc", "sort_by_label", "sort_by_label_desc", "label_replace", "label_join", "vector", "info"}
)  # fmt: skip
#: Functions that grow with their argument, where they are defined.
_GROWING: Final[dict[str, Callable[[float], float]]] = {
    "exp": math.exp, "ln": math.log, "log2": math.log2, "log10": math.log10, "sqrt": math.sqrt, "ceil": math.ceil,
    "floor": math.floor, "deg": math.degrees, "rad": math.radians, "sinh": math.sinh, "asinh": math.asinh,
    "sgn": lambda value: (value > 0) - (value < 0),
}  # fmt: skip
#: Functions of one element, which keep its labels: what is known of two elements is known of their results.
ELEMENTWISE: Final = frozenset({*_GROWING, "abs", "clamp", "clamp_min", "clamp_max", "round"})
#: Functions that are 0 for a series that never changes.
_OF_CHANGE: Final = frozenset({"changes", "resets", "delta", "idelta", "deriv", "stddev_over_time", "stdvar_over_time"})
_ABSENCE: Final = ("absent", "absent_over_time")
#: Functions whose first argument is a number, and the last one the series.
_PARAMETRIC: Final = ("histogram_quantile", "quantile_over_time", "histogram_fraction")


def bound_call(name: str, arguments: Sequence[ValueBounds]) -> ValueBounds:
    """Return the bounds of a function's result, by the bounds of its arguments."""
    if name == "time":
        return TIME._replace(sure=True, bare=True)
    if name == "pi":
        return ValueBounds(pi, pi, sure=True, bare=True)
    if not arguments:  # hour() and others of the current time
        low, high = _FIXED.get(name, (-inf, inf))
        return ValueBounds(low, high, sure=True, bare=True)
    subject = arguments[-1] if name in _PARAMETRIC else arguments[0]
    if name in _ABSENCE:
        return _bound_absence(subject)
    if subject.never:
        return NOTHING
    if name in _KEEPING:
        return subject
    if name == "scalar":  # no number unless there is exactly one series
        return subject.largest._replace(sure=subject.sure and subject.bare, bare=True, labelled=False)
    if name in _OF_CHANGE and subject.low == subject.high:  # the series is a constant
        return subject.span(0, 0)._replace(counts=True)
    if name in _FIXED:
        return subject.span(*_FIXED[name])._replace(counts=False)
    return _bound_transformation(name, subject, arguments)


def _bound_absence(subject: ValueBounds) -> ValueBounds:
    if subject.sure:
        return NOTHING
    return ValueBounds(1, 1, sure=subject.never, counts=not subject.never)


def _bound_transformation(name: str, subject: ValueBounds, arguments: Sequence[ValueBounds]) -> ValueBounds:
    """Return the bounds of a function whose result depends on the values of its arguments."""
    low, high = subject.low, subject.high
    match name:
        case "present_over_time":
            return subject.span(1, 1)._replace(counts=True)
        case "count_over_time":
            return subject.span(1, inf)._replace(counts=True)
        case "sum_over_time":
            return subject.span(low if low >= 0 else -inf, high if high <= 0 else inf)
        case "abs":
            within = low <= 0 <= high
            return subject.span(0 if within else min(abs(low), abs(high)), max(abs(low), abs(high)))
        case "round" if len(arguments) == 1:
            return subject.span(_apply(round, low), _apply(round, high))
        case "histogram_quantile":
            sound = low >= 0 and arguments[0].low >= 0 and arguments[0].high <= 1
            return subject.span(0 if sound else -inf, inf)._replace(sure=False, counts=False)
        case "histogram_sum" | "histogram_avg":
            return subject.span(0 if low >= 0 else -inf, inf)
        case "clamp" | "clamp_min" | "clamp_max":
            return _bound_clamped(name, subject, arguments)
        case _ if name in _GROWING:
            defined = low >= 0 or name not in ("ln", "log2", "log10", "sqrt")
            floor = 0.0 if name == "sqrt" else -inf
            ends = (_apply(_GROWING[name], low) if defined else floor), _apply(_GROWING[name], high)
            return subject.span(*ends)._replace(sure=subject.sure and defined)
    return ANY._replace(labelled=subject.labelled, bare=subject.bare)


def _bound_clamped(name: str, subject: ValueBounds, arguments: Sequence[ValueBounds]) -> ValueBounds:
    low, high = subject.low, subject.high
    if name != "clamp_max":
        low, high = max(low, arguments[1].low), max(high, arguments[1].high)
    if name != "clamp_min":
        low, high = min(low, arguments[-1].low), min(high, arguments[-1].high)
    return subject.span(low, high)


def _apply(function: Callable[[float], float], value: float) -> float:
    """Return a function's value at one end of an interval; where it has none, there is no bound."""
    try:
        return float(function(value))
    except OverflowError:
        return value if value in (inf, -inf) else inf
    except ValueError:
        return value if value == inf else -inf


def bound_aggregate(operator: str, inner: ValueBounds, param: ValueBounds | None, *, whole: bool) -> ValueBounds:
    """Return the bounds of an aggregation; ``whole`` if all series are in one group."""
    if inner.never or (operator in ("topk", "bottomk", "limitk") and param is not None and param.high < 1):
        return NOTHING
    one = inner.bare or inner.single
    group = inner._replace(bare=whole, labelled=False, top=inner.top if whole else -inf)
    match operator:
        case "count":
            return group.span(1, 1 if one else inf)._replace(counts=True)
        case "group":
            return group.span(1, 1)._replace(counts=True)
        case "count_values":
            return group.span(1, inf)._replace(counts=True, bare=False, sure=inner.sure, labelled=True)
        case "sum":
            low = group.largest.low if inner.low >= 0 else -inf
            return group.span(low, inner.high if one or inner.high <= 0 else inf)
        case "max":
            return group.span(group.largest.low, inner.high)
        case "min" | "avg":
            return group.span(inner.low, inner.high)
        case "stddev" | "stdvar":
            return group.span(0, 0 if one else inf)._replace(counts=False)
        case "topk":
            return inner
        case "bottomk" | "limitk" | "limit_ratio":
            return inner._replace(top=-inf, sure=inner.sure and operator != "limit_ratio")
        case "quantile" if param is not None and param.low >= 0 and param.high <= 1:
            return group.span(inner.low, inner.high)
        case _:
            return ANY._replace(sure=inner.sure, bare=whole)
