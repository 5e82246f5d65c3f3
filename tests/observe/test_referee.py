"""Our alert evaluator against Prometheus: ``promtool test rules`` over the same series agrees at every tick."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.clients import PrometheusMetrics
from scenario_kit.lab.telemetry import SeriesWriter
from scenario_kit.model import AlertHistory, AlertRule, App
from scenario_kit.observe import AlertEvaluator, AlertScope
from scenario_kit.testing import FakeMetrics
from scenario_kit.testing.metrics import Sample

STEP = 15
LOOKBACK = 300
APP = App(name="shop", version="1", namespace="shop", entry="web", components=())

#: One value per tick: a number, None for no sample, or "stale" for the end of the series.
Values = Sequence[float | str | None]
Labels = tuple[tuple[str, str], ...]
Data = dict[Labels, Values]


def notation(values: Values) -> str:
    return " ".join("_" if v is None else str(v) for v in values)


def selector(labels: Labels) -> str:
    named = dict(labels)
    name = named.pop("__name__")
    return f"{name}{{{','.join(f'{k}={json.dumps(v)}' for k, v in named.items())}}}"


def referee(folder: Path, promtool: Path, rules: Sequence[AlertRule], groups: Sequence[dict[str, Any]]) -> str:
    """What promtool objects to; empty when it agrees."""
    document = [
        {
            "alert": r.name,
            "expr": r.expr,
            "for": f"{r.for_seconds}s",
            "keep_firing_for": f"{r.keep_firing_seconds}s",
            "labels": r.labels,
        }
        for r in rules
    ]
    (folder / "rules.yml").write_text(json.dumps({"groups": [{"name": "g", "rules": document}]}))
    tests = {"rule_files": ["rules.yml"], "evaluation_interval": f"{STEP}s", "tests": groups}
    (folder / "tests.yml").write_text(json.dumps(tests))
    done = subprocess.run(
        [promtool, "test", "rules", folder / "tests.yml"], capture_output=True, text=True, check=False, timeout=100
    )
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[:4000]


def group(name: str, data: Data, rules: Sequence[AlertRule], history: AlertHistory, ticks: int) -> dict[str, Any]:
    """A promtool test that expects exactly the firing alerts of ``history``, at every tick."""
    expected = [
        {
            "eval_time": f"{STEP * tick}s",
            "alertname": alert,
            "exp_alerts": [
                {"exp_labels": t.labels}
                for t in history.timelines
                if t.name == alert and t.firing_at(history.start + STEP * tick)
            ],
        }
        for tick in range(ticks)
        for alert in sorted({r.name for r in rules})
    ]
    series = [{"series": selector(labels), "values": notation(values)} for labels, values in data.items()]
    return {"name": name, "interval": f"{STEP}s", "input_series": series, "alert_rule_test": expected}


def at_tick(values: Values, tick: int) -> float | None:
    """The engine's view of a series at a tick: its last sample, unless older than the lookback or stale."""
    for back in range(min(tick, LOOKBACK // STEP - 1) + 1):
        value = values[tick - back]
        if value is not None:
            return None if isinstance(value, str) else value
    return None


THRESHOLDS = [
    AlertRule(name=f"For{seconds}", expr="x > 0", for_seconds=seconds, range_seconds=0, labels={"severity": "page"})
    for seconds in (0, 15, 20, 60, 105)
] + [
    AlertRule(name=f"For{for_}Keep{keep}", expr="x > 0", for_seconds=for_, range_seconds=0, keep_firing_seconds=keep)
    for for_, keep in ((0, 20), (15, 30), (0, 75), (60, 60))
]


def random_values(source: random.Random, ticks: int) -> Values:
    stickiness = source.choice([0.5, 0.8, 0.95])
    value: float | str | None = source.choice([0, 1])
    values = []
    for _ in range(ticks):
        if source.random() > stickiness:
            value = source.choice([0, 1, 1, 2, None, "stale"])
        values.append(value)
    return values


def test_for_clause(tmp_path: Path, binary: Callable[[str], Path]) -> None:
    """200 random histories under nine rules each: `for` and `keep_firing_for`."""
    source, ticks = random.Random(7), 40
    data: Data = {(("__name__", "x"), ("case", str(case))): random_values(source, ticks) for case in range(200)}

    def respond(expr: str, at: float) -> Iterator[Sample]:
        for labels, values in data.items():
            value = at_tick(values, int(at) // STEP)
            if value is not None and value > 0:
                yield dict(labels), value

    evaluator = AlertEvaluator(FakeMetrics(respond), THRESHOLDS, AlertScope(APP, "n"), lambda _: None, start=0)
    history = evaluator.advance(STEP * (ticks - 1))
    assert sum(len(t.firing) for t in history.timelines) > 1000
    tests = [group("random", data, THRESHOLDS, history, ticks)]
    assert referee(tmp_path, binary("promtool"), THRESHOLDS, tests) == ""
    wrong = AlertHistory(start=history.start, end=history.end, timelines=history.timelines[1:])
    assert referee(tmp_path, binary("promtool"), THRESHOLDS, [group("wrong", data, THRESHOLDS, wrong, ticks)])


def test_longer_interval_evaluates_less_often() -> None:
    """A rule of 45 s sees the series at 0, 45, 90, ... and nothing between."""
    seen: list[int] = []

    def respond(expr: str, at: float) -> Iterator[Sample]:
        if expr.startswith("x"):
            seen.append(int(at))
            if at != 60:  # between two evaluations: nobody sees the gap
                yield {"s": "a"}, 1.0

    slow = AlertRule(name="Slow", expr="x > 0", for_seconds=90, range_seconds=0, interval_seconds=45)
    evaluator = AlertEvaluator(FakeMetrics(respond), [slow], AlertScope(APP, "n"), lambda _: None, start=15)
    for until in (30, 100, 300):
        history = evaluator.advance(until)

    assert seen == [45, 90, 135, 180, 225, 270]
    assert [(i.start, i.end) for t in history.timelines for i in t.firing] == [(135, None)]


def rule(name: str, expr: str, seconds: int, **labels: str) -> AlertRule:
    return AlertRule(name=name, expr=expr, for_seconds=seconds, range_seconds=0, labels=labels)


ENGINE = [
    rule(
        "ErrorRatio",
        'sum by (namespace, s) (rate(calls{code="err"}[2m])) / sum by (namespace, s) (rate(calls[2m])) > 0.05 '
        "and sum by (namespace, s) (rate(calls[2m])) > 0.1",
        60,
        severity="critical",
    ),
    rule("Silent", "sum by (s) (rate(calls[1m])) == 0", 45),
    rule("Waiting", 'sum by (pod) (waiting{reason!="CrashLoopBackOff"}) > 0', 75),
    rule("Looping", 'max_over_time(waiting{reason="CrashLoopBackOff"}[2m]) >= 1', 30),
    rule("Gone", 'absent(waiting{pod="p0"})', 30),
    rule("Unready", "waiting > 0 unless on (pod) job", 15),
    rule("Deriv", "deriv(calls[3m]) > 2 or changes(waiting[90s]) > 1", 0),
    rule("Sub", "max_over_time(sum(rate(calls[1m]))[2m:15s]) > 2", 30),
]


def incident(seed: int, ticks: int) -> Data:
    """Counters with outbreaks of errors, silences and ends; gauges that come and go."""
    source = random.Random(seed)
    data: Data = {}
    for service in ("a", "b", "c"):
        for code in ("ok", "err"):
            total, values = 0.0, []
            busy = source.choice([2, 30])
            for tick in range(ticks):
                if tick % 11 == 0:
                    busy = source.choice([0, 1, 5, 30])
                total += source.randint(0, busy) if code == "ok" else source.choice([0, 0, busy // 3])
                values.append(total)
            data[("__name__", "calls"), ("code", code), ("namespace", f"n{seed}"), ("s", service)] = values
    for pod in ("p0", "p1", "p2"):
        for reason in ("CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff"):
            values = random_values(source, ticks)
            data[("__name__", "waiting"), ("namespace", f"n{seed}"), ("pod", pod), ("reason", reason)] = values
    data[("__name__", "job"), ("namespace", f"n{seed}"), ("pod", "p2")] = random_values(source, ticks)
    return data


def store(url: str, data: Data, epoch: float, ticks: int) -> None:
    """Write the samples, and what promtool's notation calls stale, through the lab's own writer."""
    writer = SeriesWriter(url)
    batch = []
    for tick in range(ticks):
        current = {}
        for labels, values in data.items():
            named = dict(labels)
            name = named.pop("__name__")
            value = values[tick]
            if value is not None and not isinstance(value, str):
                current[name, tuple(sorted(named.items()))] = float(value)
        batch.append((epoch + STEP * tick, current))
    writer.write(batch)
    writer.close()


def complete(data: Data) -> Data:
    """As the writer stores it: a series that is missing at a tick gets a stale marker there."""

    def mended(values: Values) -> Values:
        return [
            "stale" if value in (None, "stale") and tick and isinstance(values[tick - 1], int | float) else
            None if value == "stale" else value
            for tick, value in enumerate(values)
        ]  # fmt: skip

    return {labels: mended(values) for labels, values in data.items()}


@pytest.mark.lab
def test_engine(tmp_path: Path, binary: Callable[[str], Path], prometheus: str, epoch: int) -> None:
    """Eight incidents in one Prometheus, each seen through its namespace alone; promtool sees them one by one."""
    ticks, groups, fired = 60, [], set()
    for seed in range(8):
        store(prometheus, incident(seed, ticks), epoch, ticks)
    for seed in range(8):
        evaluator = AlertEvaluator(
            PrometheusMetrics(prometheus), ENGINE, AlertScope(APP, f"n{seed}"), lambda _: None, start=epoch
        )
        history = evaluator.advance(epoch + STEP * (ticks - 1))
        fired |= {t.name for t in history.timelines if t.firing}
        groups.append(
            group(
                f"seed {seed}", complete(incident(seed, ticks)), ENGINE, normalise_absent_labels(history, seed), ticks
            )
        )
    assert fired == {r.name for r in ENGINE}
    assert referee(tmp_path, binary("promtool"), ENGINE, groups) == ""


def normalise_absent_labels(history: AlertHistory, seed: int) -> AlertHistory:
    """``absent`` takes its labels from the matchers, which only ours have: the namespace is left out there."""
    import msgspec

    def plain(labels: Mapping[str, str], name: str) -> dict[str, str]:
        return {k: v for k, v in labels.items() if not (name == "Gone" and k == "namespace")}

    timelines = tuple(msgspec.structs.replace(t, labels=plain(t.labels, t.name)) for t in history.timelines)
    return msgspec.structs.replace(history, timelines=timelines)


@pytest.mark.lab
def test_tick_with_query_error_is_a_gap(prometheus: str, epoch: int) -> None:
    """Many-to-many at tick 3 only: the range query fails as a whole, the evaluator loses that tick alone."""
    data: Data = {
        (("__name__", "left"), ("namespace", "many"), ("i", "1")): [1] * 8,
        (("__name__", "right"), ("namespace", "many"), ("j", "1")): [1] * 8,
        (("__name__", "right"), ("namespace", "many"), ("j", "2")): [None, None, None, 1, None, None, None, None],
        (("__name__", "kube_pod_info"), ("namespace", "many")): [1] * 8,
    }
    store(prometheus, data, epoch, 8)
    rules = [rule("Both", "left * on () right > 0", 30)]
    evaluator = AlertEvaluator(
        PrometheusMetrics(prometheus), rules, AlertScope(APP, "many"), lambda _: None, start=epoch
    )
    history = evaluator.advance(epoch + STEP * 7)
    (timeline,) = history.timelines
    assert [(i.start - epoch, i.end) for i in timeline.firing] == [(30, None)]
    assert [(g.start - epoch, (g.end or 0) - epoch) for g in history.gaps] == [(45, 60)]
