from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.errors import MetricsError
from scenario_kit.model import AlertHistory, AlertRule, App, Component, EntityLabel, Interval, Reference
from scenario_kit.observe import AlertEvaluator, AlertScope
from scenario_kit.observe.range_query import CHUNK
from scenario_kit.testing import FakeMetrics
from scenario_kit.testing.metrics import Sample

APP = App(
    name="shop",
    version="1",
    namespace="shop",
    entry="web",
    components=(
        Component(name="web", workload=Reference("Deployment", "web")),
        Component(name="cart", workload=Reference("Deployment", "cart")),
    ),
)
ERRORS = AlertRule(
    name="Errors",
    expr="errors > 0",
    for_seconds=30,
    range_seconds=0,
    labels={"severity": "critical"},
    entity=EntityLabel(label="service_name", kind="Component"),
)
WAITING = AlertRule(
    name="Waiting", expr="waiting > 0", for_seconds=0, range_seconds=0, entity=EntityLabel(label="pod", kind="Pod")
)
START = 1500


class World:
    """Two series as strings, one character per tick: ``x`` in the result, ``.`` not, ``!`` evaluation fails,
    ``d`` two series that become one alert; ``telemetry`` ``.`` means that nothing is known of the namespace."""

    def __init__(self, errors: str = "", waiting: str = "", telemetry: str = "") -> None:
        self.patterns = {"kube_": telemetry or "x", "errors": errors or ".", "waiting": waiting or "."}
        self.series: dict[str, list[dict[str, str]]] = {
            "kube_": [{}],
            "errors": [{"__name__": "errors", "service_name": "cart", "namespace": "shop-1"}],
            "waiting": [{"pod": "web-5d59d67564-x2x4z", "namespace": "shop-1"}],
        }

    def respond(self, expr: str, at: float) -> Iterator[Sample]:
        key = next(k for k in self.patterns if k in expr)
        pattern = self.patterns[key]
        mark = pattern[min(int(at - START) // 15, len(pattern) - 1)] if at >= START else "."
        if mark == "!":
            raise MetricsError("many-to-many matching not allowed", evaluation=True)
        if mark in "xd":
            yield from ((labels, 1.0) for labels in self.series[key])
        if mark == "d":
            yield {**self.series[key][0], "__name__": "other"}, 1.0


def evaluator(world: World, metrics: FakeMetrics | None = None, **options: float) -> AlertEvaluator:
    source = metrics or FakeMetrics(world.respond)
    return AlertEvaluator(source, (ERRORS, WAITING), AlertScope(APP, "shop-1"), lambda _: None, start=START, **options)


def list_firing(history: AlertHistory, name: str = "Errors") -> list[tuple[float, float | None]]:
    return [(i.start - START, i.end and i.end - START) for t in history.timelines if t.name == name for i in t.firing]


def gaps(history: AlertHistory) -> list[tuple[float, float | None]]:
    return [(g.start - START, g.end and g.end - START) for g in history.gaps]


def test_history() -> None:
    history = evaluator(World(errors=".xxx.", waiting="..x")).advance(START + 75)
    assert (history.start, history.end) == (START, START + 75)
    errors, waiting = history.timelines
    assert errors.labels == {"service_name": "cart", "namespace": "shop-1", "severity": "critical"}
    assert errors.entity == "Deployment/cart"
    assert errors.pending == (Interval(start=START + 15, end=START + 45),)
    assert errors.firing == (Interval(start=START + 45, end=START + 60),)
    assert waiting.entity == "Deployment/web"
    assert waiting.pending == ()
    assert waiting.firing == (Interval(start=START + 30),)
    assert history.gaps == ()


def test_every_query_is_scoped_to_the_namespace() -> None:
    metrics = FakeMetrics(World().respond)
    evaluator(World(), metrics).advance(START)
    assert all('namespace="shop-1"' in expr for expr in metrics.queries)
    assert len(metrics.queries) == 3


def test_times_between_ticks_wait_for_the_next() -> None:
    subject = evaluator(World(errors="xxxx"))
    assert subject.advance(START + 44).end == START + 30
    assert subject.advance(START + 44.9).end == START + 30
    assert subject.advance(START + 45).end == START + 45


def test_unaligned_start_begins_at_the_next_tick() -> None:
    subject = AlertEvaluator(FakeMetrics(World().respond), (), AlertScope(APP, "s"), lambda _: None, start=START + 1)
    assert subject.advance(START + 14).start == START + 15
    assert subject.advance(START + 30).end == START + 30


def test_lag_skips_the_latest_ticks() -> None:
    subject = evaluator(World(), lag=5)
    assert subject.advance(START + 34).end == START + 15
    assert subject.advance(START + 35).end == START + 30


def test_no_tick_is_evaluated_twice() -> None:
    metrics = FakeMetrics(World(errors="xxxx").respond)
    subject = evaluator(World(), metrics)
    subject.advance(START + 60)
    count = len(metrics.queries)
    assert subject.advance(START + 74) == subject.advance(START + 60)
    assert len(metrics.queries) == count


@pytest.mark.parametrize(
    ("errors", "expected", "blind"),
    [
        ("xx!x.", [(30 + 15, 60)], [(30, 45)]),
        ("xxx!!.", [(30, 75)], [(45, 75)]),
        ("xxd.", [], [(30, 45)]),
        ("xxx.d.", [(30, 45)], [(60, 75)]),
    ],
)
def test_failed_tick_is_a_gap(errors: str, expected: object, blind: object) -> None:
    history = evaluator(World(errors=errors)).advance(START + 120)
    assert list_firing(history) == expected
    assert gaps(history) == blind


def test_missing_telemetry_is_a_gap() -> None:
    history = evaluator(World(telemetry="x..x.x")).advance(START + 75)
    assert gaps(history) == [(15, 45), (60, 75)]


def test_unreachable_server_loses_no_ticks() -> None:
    world = World(errors=".xxxx...")
    metrics = FakeMetrics(world.respond)
    subject = evaluator(world, metrics)
    before = subject.advance(START + 30)
    metrics.down = True
    with pytest.raises(MetricsError):
        subject.advance(START + 90)
    assert subject.history() == before
    metrics.down = False
    assert subject.advance(START + 90) == evaluator(world).advance(START + 90)


def test_server_failure_during_retry_is_raised() -> None:
    world = World(errors="x!x")

    def respond(expr: str, at: float) -> Iterable[Sample]:
        if at == START + 30 and "errors" in expr:
            raise MetricsError("gone")
        return world.respond(expr, at)

    with pytest.raises(MetricsError, match="gone"):
        evaluator(world, FakeMetrics(respond)).advance(START + 30)


def test_alert_continues_across_chunks() -> None:
    world = World(errors="." * (CHUNK - 1) + "x" * (CHUNK + 10) + ".")
    history = evaluator(world).advance(START + 15 * 3 * CHUNK)
    begin = 15 * (CHUNK - 1)
    assert list_firing(history) == [(begin + 30, begin + 15 * (CHUNK + 10))]


def test_owners_are_looked_up_once() -> None:
    looked_up: list[str] = []

    def owner_of(pod: str) -> Reference | None:
        looked_up.append(pod)
        return Reference("StatefulSet", "db", "shop-1")

    metrics = FakeMetrics(World(waiting="x").respond)
    subject = AlertEvaluator(metrics, (WAITING,), AlertScope(APP, "shop-1"), owner_of, start=START)
    assert {subject.advance(START + 15 * i).timelines[0].entity for i in range(4)} == {"StatefulSet/db"}
    assert looked_up == ["web-5d59d67564-x2x4z"]


marks = st.text("xxxx..!d", min_size=1, max_size=60)


@given(errors=marks, waiting=marks, cuts=st.lists(st.integers(0, 1000), max_size=8), end=st.integers(0, 1000))
def test_evaluation_at_once_equals_piecewise(errors: str, waiting: str, cuts: list[int], end: int) -> None:
    world = World(errors, waiting)
    piecewise = evaluator(world)
    for cut in cuts:
        piecewise.advance(START + min(cut, end))
    history = piecewise.advance(START + end)
    assert evaluator(world).advance(START + end) == history
