"""Evaluate a rule tick by tick with chunked range queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scenario_kit.errors import MetricsError
from scenario_kit.model import AlertRule
from scenario_kit.observe.alert_state import LabelSet, RuleEvaluation
from scenario_kit.ports import Metrics, Series

#: Ticks per query: large enough to amortise its fixed cost, small enough to retry tick by tick after a failure.
CHUNK = 80


def label_set(rule: AlertRule, series: Mapping[str, str]) -> LabelSet:
    """Build the labels of an alert from a series: without the metric name, overridden by the rule's labels."""
    labels = {name: value for name, value in series.items() if name != "__name__" and value}
    return tuple(sorted({**labels, **rule.labels}.items()))


def evaluate_ticks(
    metrics: Metrics, rule: AlertRule, expr: str, grid: Sequence[float], step: float
) -> Iterator[RuleEvaluation]:
    """Evaluate one tick per instant of ``grid``, which is ascending with distance ``step``.

    A chunk whose query fails is evaluated tick by tick; ticks that fail again are failed evaluations, as in Prometheus.

    Raises:
        MetricsError: Prometheus does not answer.
    """
    for first in range(0, len(grid), CHUNK):
        chunk = grid[first : first + CHUNK]
        try:
            result = metrics.range(expr, chunk[0], chunk[-1], step)
        except MetricsError as error:
            if not error.evaluation:
                raise
            yield from (_evaluate_instant(metrics, rule, expr, at) for at in chunk)
        else:
            yield from _split(rule, result, chunk, step)


def _evaluate_instant(metrics: Metrics, rule: AlertRule, expr: str, at: float) -> RuleEvaluation:
    try:
        return RuleEvaluation(at, _check_distinct([label_set(rule, s.labels) for s in metrics.instant(expr, at)]))
    except MetricsError as error:
        if not error.evaluation:
            raise
        return RuleEvaluation(at, None)


def _split(rule: AlertRule, result: Sequence[Series], chunk: Sequence[float], step: float) -> Iterator[RuleEvaluation]:
    active: list[list[LabelSet]] = [[] for _ in chunk]
    for series in result:
        labels = label_set(rule, series.labels)
        for at, _ in series.points:
            active[round((at - chunk[0]) / step)].append(labels)
    return (RuleEvaluation(at, _check_distinct(labels)) for at, labels in zip(chunk, active, strict=True))


def _check_distinct(labels: Sequence[LabelSet]) -> frozenset[LabelSet] | None:
    """Return the label sets; None for duplicates, which Prometheus rejects (``ErrDuplicateAlertLabelSet``)."""
    distinct = frozenset(labels)
    return distinct if len(distinct) == len(labels) else None
