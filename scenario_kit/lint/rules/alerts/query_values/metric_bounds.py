"""Bounds of the values of a metric, by its name: what its exporter documents."""

from __future__ import annotations

import re
from math import inf
from typing import Any, Final

from scenario_kit.lint.rules.alerts.query_values.value_bounds import NOTHING, ValueBounds
from scenario_kit.model.re2 import compile_pattern

#: Series that are 1 for each object or condition, so that only their presence carries information.
#: https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics
_MARKS: Final = re.compile(
    r"kube_\w+_(info|owner|labels|annotations)|kube_node_(role|spec_taint)|kube_service_spec_type"
    r"|kube_persistentvolumeclaim_access_mode|kube_pod_status_unschedulable"
)
#: Series that are 1 while a state lasts, and 0 or absent otherwise.
_STATES: Final = re.compile(
    r"up|kube_\w+_(status_condition|status_phase|spec_paused|spec_unschedulable)|kube_job_(complete|failed)"
    r"|kube_pod_status_(ready|scheduled|reason)"
    r"|kube_pod_(init_)?container_status_(ready|running|waiting|terminated|\w+_reason)"
)
#: Metrics without negative values: counters, sizes, durations, and all that the exporters of objects report.
_COUNTED: Final = re.compile(r"kube_\w+|container_\w+|\w+_(total|count|sum|bucket|bytes|milliseconds|seconds)")
#: The earliest time that a timestamp can be, 2001-09-09, and the latest, in 2286.
TIME: Final = ValueBounds(1e9, 1e10)

#: Names of times that may be in the future.
_PLANNED: Final = re.compile(r"expir|not_after|next|renew|deadline|schedule_timestamp")


def bound_metric(selector: Any) -> ValueBounds:
    """Return the bounds of a selected series."""
    if not _is_satisfiable(selector):
        return NOTHING
    name = str(selector.name or "")
    if name.endswith(("_timestamp_seconds", "_created")):
        return TIME._replace(labelled=True)
    if _MARKS.fullmatch(name):
        return ValueBounds(1, 1, counts=True, labelled=True)
    if _STATES.fullmatch(name):
        return ValueBounds(0, 1, labelled=True)
    return ValueBounds(0 if _COUNTED.fullmatch(name) else -inf, labelled=True)


def tells_past(selector: Any) -> bool:
    """Return whether a series holds the time of something that has happened, not of something planned."""
    return bound_metric(selector)[:2] == TIME[:2] and _PLANNED.search(str(selector.name or "")) is None


def accepts_value(matcher: Any, value: str) -> bool:
    """Return whether a matcher accepts a label's value; an invalid pattern accepts any, and SK117 reports it."""
    operator, desired = str(matcher.op).removeprefix("MatchOp."), str(matcher.value)
    if operator in ("Equal", "NotEqual"):
        return (value == desired) is (operator == "Equal")
    try:
        return compile_pattern(desired).matches(value) is (operator == "Re")
    except ValueError:
        return True


def _is_satisfiable(selector: Any) -> bool:
    """Return whether one label value can satisfy all matchers of its label: a value required by `=` decides."""
    if selector.matchers.or_matchers:
        return True
    matchers = list(selector.matchers.matchers)
    for exact in matchers:
        if str(exact.op) == "MatchOp.Equal":
            same = [m for m in matchers if m.name == exact.name]
            if not all(accepts_value(matcher, str(exact.value)) for matcher in same):
                return False
    return True
