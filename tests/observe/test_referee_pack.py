"""The rules of the default pack over hundreds of generated series: our evaluator and Prometheus' agree at every tick.

The series are shaped like those of an app in trouble (counters that stall, break and start again, states that come and
go), so that every rule fires somewhere, and is close to firing in many other places.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.clients import PrometheusMetrics
from scenario_kit.observe import AlertEvaluator, AlertScope
from tests.observe.test_referee import APP, STEP, Data, Values, complete, group, referee, store

TICKS = 80
WORLDS = 4
BOUNDS = ("100", "1000", "1400", "2000", "5000", "+Inf")

#: Requests per tick, the share of them that fails, and the share that takes longer than 1.4 s.
MOODS = (
    (60, 0.0, 0.0),
    (60, 0.2, 0.0),
    (60, 0.04, 0.03),
    (60, 0.0, 0.3),
    (60, 0.0, 0.06),
    (2, 0.5, 0.5),
    (0, 0.0, 0.0),
)


def stretches(source: random.Random, longest: int) -> Iterator[int]:
    """The number of the stretch that each tick belongs to; most are shorter than any rule waits."""
    number = 0
    while True:
        for _ in range(source.randint(1, longest)):
            yield number
        number += 1


def states(source: random.Random, values: tuple[float | None, ...], longest: int = 30) -> Values:
    """A gauge that keeps a value for a while; None is the end of the series, for as long as it lasts."""
    drawn: list[float | None] = []
    found: list[float | None] = []
    for _, number in zip(range(TICKS), stretches(source, longest), strict=False):
        while len(drawn) <= number:
            drawn.append(source.choice(values))
        found.append(drawn[number])
    return found


def requests(source: random.Random, namespace: str, service: str, kind: str) -> Data:
    """The span metrics of a service: its counters start again when it is replaced."""
    names = [("calls", "STATUS_CODE_UNSET"), ("calls", "STATUS_CODE_ERROR"), *(("le", bound) for bound in BOUNDS)]
    totals = dict.fromkeys(names, 0)
    columns: dict[tuple[str, str], list[float]] = {name: [] for name in names}
    moods: list[tuple[int, float, float]] = []
    for _, number in zip(range(TICKS), stretches(source, 60), strict=False):
        while len(moods) <= number:
            moods.append(source.choice(MOODS))
        if source.random() < 0.01:
            totals = dict.fromkeys(names, 0)
        count, failing, slow = moods[number]
        failed, late = (sum(source.random() < share for _ in range(count)) for share in (failing, slow))
        totals["calls", "STATUS_CODE_ERROR"] += failed
        totals["calls", "STATUS_CODE_UNSET"] += count - failed
        for bound in BOUNDS:
            totals["le", bound] += count if bound in ("2000", "5000", "+Inf") else count - late
        for name in names:
            columns[name].append(totals[name])
    who = (("namespace", namespace), ("service_name", service), ("span_kind", f"SPAN_KIND_{kind}"))
    data: Data = {}
    for (what, value), values in columns.items():
        metric, label = ("calls_total", "status_code") if what == "calls" else ("duration_milliseconds_bucket", "le")
        data[("__name__", f"traces_span_metrics_{metric}"), *who, (label, value)] = values
    return data


def world(seed: int) -> Data:
    """One namespace: services, pods, deployments and autoscalers, each in trouble of its own."""
    source, namespace = random.Random(seed), f"w{seed}"
    data: Data = {}
    for service, kind in (("frontend", "SERVER"), ("cart", "SERVER"), ("quote", "SERVER"), ("accounting", "CONSUMER")):
        data |= requests(source, namespace, service, kind)

    def add(metric: str, values: Values, **labels: str) -> None:
        data[("__name__", metric), ("namespace", namespace), *sorted(labels.items())] = values

    add("kube_pod_info", [1] * TICKS)  # without it nobody exports anything, and every tick is a gap
    for pod in ("a-1", "b-1", "c-1", "d-1", "e-1"):
        for phase in ("Pending", "Running", "Failed"):
            add("kube_pod_status_phase", states(source, (0, 0, 1)), pod=pod, phase=phase)
        add("kube_pod_status_ready", states(source, (0, 1, 1)), pod=pod, condition="true")
        add("kube_pod_owner", states(source, (None, 1)), pod=pod, owner_kind=source.choice(["Job", "ReplicaSet"]))
        for reason in ("CrashLoopBackOff", "ErrImagePull", "ContainerCreating"):
            values = states(source, (None, None, 1))
            add("kube_pod_container_status_waiting_reason", values, pod=pod, container="main", reason=reason)
    for name in ("a", "b", "c"):
        for status in ("true", "false"):
            labels = {"deployment": name, "condition": "Progressing", "status": status}
            add("kube_deployment_status_condition", states(source, (0, 1)), **labels)
        add("kube_horizontalpodautoscaler_spec_min_replicas", [1] * TICKS, horizontalpodautoscaler=name)
        most = source.choice([1, 4])
        add("kube_horizontalpodautoscaler_spec_max_replicas", [most] * TICKS, horizontalpodautoscaler=name)
        current = states(source, (1, 3, 4, 4), longest=40)
        add("kube_horizontalpodautoscaler_status_current_replicas", current, horizontalpodautoscaler=name)
    return data


@pytest.mark.lab
def test_default_pack(tmp_path: Path, binary: Callable[[str], Path], prometheus: str, epoch: int) -> None:
    """Four worlds in one Prometheus, each seen through its namespace alone; promtool sees them one by one."""
    rules = Catalog().alert_pack("default")
    worlds = {f"w{seed}": world(seed) for seed in range(WORLDS)}
    assert sum(map(len, worlds.values())) > 300
    groups, fired = [], dict.fromkeys((r.name for r in rules), 0)
    for namespace, data in worlds.items():
        store(prometheus, data, epoch, TICKS)
        evaluator = AlertEvaluator(
            PrometheusMetrics(prometheus), rules, AlertScope(APP, namespace), lambda _: None, start=epoch
        )
        history = evaluator.advance(epoch + STEP * (TICKS - 1))
        assert not history.gaps
        for timeline in history.timelines:
            fired[timeline.name] += len(timeline.firing)
        groups.append(group(namespace, complete(data), rules, history, TICKS))
    assert all(fired.values()), fired
    assert referee(tmp_path, binary("promtool"), rules, groups) == ""
