"""Alert evaluation in wall-clock and virtual time: Prometheus evaluates PromQL, this module tracks ``for``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from scenario_kit.model import AlertHistory, AlertRule, AlertTimeline, App, Interval, Reference
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.observe.alert_state import Alert, LabelSet, RuleEvaluation, fire
from scenario_kit.observe.entities import find_entity
from scenario_kit.observe.range_query import evaluate_ticks
from scenario_kit.observe.rules import scope
from scenario_kit.ports import Metrics

#: Seconds between evaluations, the same as between scrapes.
STEP: Final = GRID_SECONDS
#: Query that detects missing telemetry: every deployed app has workloads and therefore these series.
PRESENCE = 'count({__name__=~"kube_deployment_spec_replicas|kube_statefulset_replicas|kube_pod_info"})'
_PARALLEL = 4


class AlertScope(NamedTuple):
    """The app whose alerts are evaluated, its namespace, and its additional namespaces (``others``)."""

    app: App
    namespace: str
    others: Sequence[str] = ()


class AlertEvaluator:
    """Evaluates the rules of one trial on the 15 s grid and keeps the history since ``start``.

    Its state is derived from stored samples only: a new evaluator with the same start arrives at the same history.

    Args:
        metrics: the source of samples.
        rules: the app's alert rules, without a namespace.
        deployed: the app; its namespaces are injected into every selector.
        owner_of: returns the workload that owns a pod, None if unknown.
        start: seconds since the epoch; the first tick is the next multiple of 15 s.
        lag: delay of storage in seconds; younger ticks are deferred, so that a replay sees the same samples.

    Raises:
        AuthoringError: a rule is not valid PromQL.
    """

    def __init__(
        self,
        metrics: Metrics,
        rules: Sequence[AlertRule],
        deployed: AlertScope,
        owner_of: Callable[[str], Reference | None],
        *,
        start: float,
        lag: float = 0.0,
    ) -> None:
        self._metrics = metrics
        self._rules = tuple(rules)
        self._exprs = [scope(rule.expr, deployed.namespace, *deployed.others) for rule in rules]
        self._presence = scope(PRESENCE, deployed.namespace, *deployed.others)
        self._app = deployed.app
        self._owner_of = owner_of
        self._lag = lag
        self._entities: dict[tuple[int, LabelSet], Reference | None] = {}
        self._start = math.ceil(start / STEP) * STEP
        self._next = self._start
        self._states: list[Mapping[LabelSet, Alert]] = [{} for _ in self._rules]
        self._gaps: tuple[Interval, ...] = ()

    def advance(self, until: float) -> AlertHistory:
        """Evaluate the new ticks up to ``until`` minus the lag and return the complete history.

        Raises:
            MetricsError: Prometheus does not answer; the next call continues at the same tick.
        """
        grid = [float(at) for at in range(self._next, math.floor(until - self._lag) + 1, STEP)]
        if grid:
            present, *samples = self._evaluate(grid)
            self._states = [
                fire(state, ticks, rule.for_seconds, rule.keep_firing_seconds)
                for state, ticks, rule in zip(self._states, samples, self._rules, strict=True)
            ]
            blind = {tick.at for tick in present if not tick.active}
            blind |= {tick.at for ticks in samples for tick in ticks if tick.active is None}
            self._gaps = extend(self._gaps, sorted(blind), STEP)
            self._next = int(grid[-1]) + STEP
        return self.history()

    def history(self) -> AlertHistory:
        """Return the history from the first to the last evaluated tick."""
        timelines = [
            self._timeline(index, rule, labels, alert)
            for index, rule in enumerate(self._rules)
            for labels, alert in self._states[index].items()
        ]
        timelines.sort(key=lambda t: (t.name, t.entity or "", sorted(t.labels.items())))
        end = max(self._start, self._next - STEP)
        return AlertHistory(start=self._start, end=end, timelines=tuple(timelines), gaps=self._gaps)

    def _evaluate(self, grid: Sequence[float]) -> list[list[RuleEvaluation]]:
        """Evaluate the ticks of the presence query, then those of each rule."""
        presence = AlertRule(name="", expr=PRESENCE, for_seconds=0, range_seconds=0)

        def ticks(rule: AlertRule, expr: str) -> list[RuleEvaluation]:
            own = [at for at in grid if at % rule.interval_seconds == 0]
            return list(evaluate_ticks(self._metrics, rule, expr, own, rule.interval_seconds))

        with ThreadPoolExecutor(_PARALLEL) as pool:
            return list(pool.map(ticks, (presence, *self._rules), (self._presence, *self._exprs)))

    def _timeline(self, index: int, rule: AlertRule, labels: LabelSet, alert: Alert) -> AlertTimeline:
        if (index, labels) not in self._entities:
            self._entities[index, labels] = find_entity(rule, dict(labels), self._app, self._owner_of)
        pending, firing = alert.intervals
        entity = self._entities[index, labels]
        return AlertTimeline(name=rule.name, entity=entity, labels=dict(labels), pending=pending, firing=firing)


def extend(gaps: tuple[Interval, ...], blind: Sequence[float], step: float) -> tuple[Interval, ...]:
    """Extend ``gaps`` by one step per blind tick and merge adjacent intervals; both are in order of time."""
    joined = list(gaps)
    for at in blind:
        if joined and joined[-1].end == at:
            joined[-1] = Interval(start=joined[-1].start, end=at + step)
        else:
            joined.append(Interval(start=at, end=at + step))
    return tuple(joined)
