"""``alerts/``: the firing alerts at each minute, in the format of Prometheus' ``/api/v1/alerts``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

from scenario_kit.model import AlertHistory, AlertRule, AlertTimeline
from scenario_kit.observe.range_query import label_set
from scenario_kit.observe.rules import scope
from scenario_kit.ports import Metrics
from scenario_kit.snapshot.canonical.names import NameMap
from scenario_kit.snapshot.canonical.times import TimeShift

#: Interval of alert files in seconds.
EVALUATION_INTERVAL: Final = 60
_TEMPLATE: Final = re.compile(r"\{\{-?\s*(?:\$labels\.(?P<label>\w+)|\$value(?:\s*\|\s*(?P<form>\w+))?)\s*-?\}\}")

Values = Mapping[tuple[str, tuple[tuple[str, str], ...]], Mapping[float, float]]


class FiringAlerts(NamedTuple):
    """The firing alerts at an instant of the trial's clock."""

    at: float
    alerts: list[dict[str, Any]]


def list_firing_alerts(
    history: AlertHistory, rules: Sequence[AlertRule], values: Values, span: tuple[float, float], views: AlertViews
) -> Iterator[FiringAlerts]:
    """Yield the firing alerts at each minute of ``span``, both ends included."""
    by_name: dict[str, list[AlertRule]] = {}
    for rule in rules:
        by_name.setdefault(rule.name, []).append(rule)
    at = span[0]
    while at <= span[1]:
        firing = [t for t in history.timelines if t.firing_at(at)]
        shown = [views.show(t, find_rule(t, by_name[t.name]), values, at) for t in firing if t.name in by_name]
        yield FiringAlerts(at, sorted(shown, key=lambda alert: sorted(alert["labels"].items())))
        at += EVALUATION_INTERVAL


class AlertViews:
    """Formats alerts with the names and times of the snapshot."""

    def __init__(self, names: NameMap, shift: TimeShift) -> None:
        self._names = names
        self._shift = shift

    def show(self, timeline: AlertTimeline, rule: AlertRule, values: Values, at: float) -> dict[str, Any]:
        """Format a firing alert."""
        real = {"alertname": rule.name, **timeline.labels, **rule.labels}
        labels = {key: self._names.rename_beside(real[key], real.get("pod", "")) for key in sorted(real)}
        points = values.get((rule.expr, tuple(sorted(timeline.labels.items()))), {})
        value = points.get(at)
        return {
            "labels": labels,
            "annotations": {key: expand(text, labels, value) for key, text in sorted(rule.annotations.items())},
            "state": "firing",
            "activeAt": format_active(self._shift.shows(find_active(timeline, at))),
            "value": format_exponent(value if value is not None else 0.0),
        }


def find_rule(timeline: AlertTimeline, rules: Sequence[AlertRule]) -> AlertRule:
    """Find the rule of an alert among rules with the same name, by labels."""
    fitting = (r for r in rules if all(timeline.labels.get(k) == v for k, v in r.labels.items()))
    return next(fitting, rules[0])


def measure_values(
    metrics: Metrics, history: AlertHistory, rules: Sequence[AlertRule], namespaces: Sequence[str], start: float
) -> Values:
    """Query the values of all rules that fired, every minute from ``start``.

    Raises:
        MetricsError: Prometheus does not answer.
    """
    fired = {t.name for t in history.timelines if t.firing}
    found: dict[tuple[str, tuple[tuple[str, str], ...]], dict[float, float]] = {}
    for rule in rules:
        if rule.name in fired:
            for series in metrics.range(scope(rule.expr, *namespaces), start, history.end, float(EVALUATION_INTERVAL)):
                found.setdefault((rule.expr, label_set(rule, series.labels)), {}).update(series.points)
    return found


def find_active(timeline: AlertTimeline, at: float) -> float:
    """Return ``activeAt`` of an alert firing at ``at``: the start of its pending state."""
    start = max(i.start for i in timeline.firing if i.start <= at)
    return next((p.start for p in timeline.pending if p.end == start), start)


def expand(text: str, labels: Mapping[str, str], value: float | None) -> str:
    """Expand the templates of an annotation: labels, value and humanised value."""

    def replace(match: re.Match[str]) -> str:
        if match["label"]:
            return labels.get(match["label"], "")
        if value is None:
            return ""
        return f"{value * 100:.4g}%" if match["form"] == "humanizePercentage" else f"{value:.4g}"

    return _TEMPLATE.sub(replace, text)


def format_active(at: float) -> str:
    """Format as RFC 3339 with nanoseconds."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S}.{round(at * 1e6) % 1_000_000:06d}000Z"


def format_exponent(value: float) -> str:
    """Format as Prometheus formats alert values: ``2.22e-02``, with the fewest digits that round-trip."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"inf": "+Inf", "-inf": "-Inf"}.get(str(value), "NaN")
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    power = len(text) - 1 + int(exponent) if value else 0
    mantissa = text[0] + (f".{text[1:]}" if len(text) > 1 else "")
    return f"{'-' if sign else ''}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
