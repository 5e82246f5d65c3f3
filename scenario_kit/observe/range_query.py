"""Samples of one rule, tick by tick, out of range queries in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scenario_kit.errors import MetricsError
from scenario_kit.model import AlertRule
from scenario_kit.observe.alert_state import LabelSet, RuleEvaluation
from scenario_kit.ports import Metrics, Series

#: Ticks per query: long enough that a query's fixed cost does not matter, short enough that one failing tick is cheap.
CHUNK = 80


def label_set(rule: AlertRule, series: Mapping[str, str]) -> LabelSet:
    """Build the labels of the alert that a series raises: without the metric's name, the rule's own labels on top."""
    labels = {name: value for name, value in series.items() if name != "__name__" and value}
    return tuple(sorted({**labels, **rule.labels}.items()))


def evaluate_ticks(
    metrics: Metrics, rule: AlertRule, expr: str, grid: Sequence[float], step: float
) -> Iterator[RuleEvaluation]:
    """Evaluate one tick per instant of ``grid``, which is ascending with distance ``step``.

    A chunk whose query fails is evaluated tick by tick, and what fails then is a failed tick, as for Prometheus itself.

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
    """Return two series that become the same alert are an error of that evaluation (``ErrDuplicateAlertLabelSet``)."""
    distinct = frozenset(labels)
    return distinct if len(distinct) == len(labels) else None
