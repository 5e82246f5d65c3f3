"""Autoscaler requests are held and released once per tick."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.settle.hpa_pacing import MetricsGate, is_querying, is_within
from scenario_kit.model.kubernetes.label_selector import parse, parse_object

AGENT = "kube-controller-manager/v1.34.2 (linux/amd64) kubernetes/8cc511e/horizontal-pod-autoscaler"
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}


class AutoscaledNamespace:
    """A namespace with one autoscaler, its clock, and threads that ask as the controller does."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.store = ObjectStore()
        self.tick = 15.0
        self.metrics_gate = MetricsGate(self.store, lambda _: self.tick)
        self.store.listen(self.metrics_gate.on_event)
        self._pool = pool
        self._revision = 0
        self.deployment()
        self.scaler()

    def put(self, kind: str, **fields: Any) -> None:
        self._revision += 1
        meta = {"name": "web", "namespace": "shop", "uid": kind, "resourceVersion": str(self._revision)}
        self.store.put(kind, {"kind": kind, "metadata": meta, **fields})

    def deployment(self, replicas: int = 2) -> None:
        self.put("Deployment", spec={"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}})

    def scaler(self, *metrics: Any, reason: str = "", target: str = "Deployment", maximum: int = 6) -> None:
        spec = {"scaleTargetRef": {"kind": target, "name": "web"}, "minReplicas": 2, "maxReplicas": maximum}
        conditions = [{"type": "ScalingActive", "status": "False", "reason": reason}] if reason else []
        self.put(
            "HorizontalPodAutoscaler", spec=spec | {"metrics": metrics or [CPU]}, status={"conditions": conditions}
        )

    def ask(self, agent: str = AGENT) -> Future[None]:
        return self._pool.submit(self.metrics_gate.pace, "shop", "app=web", agent)

    def publish(self) -> None:
        self.tick += 15
        self.metrics_gate.notify_tick()

    def held(self) -> bool:
        return not self.metrics_gate.wait("shop", 5.0)


@pytest.fixture
def autoscaled() -> Iterator[AutoscaledNamespace]:
    with ThreadPoolExecutor(4) as pool:
        autoscaled = AutoscaledNamespace(pool)
        yield autoscaled
        autoscaled.metrics_gate.close()


def test_second_hpa_query_waits_for_new_metrics(autoscaled: AutoscaledNamespace) -> None:
    assert autoscaled.metrics_gate.list_unfinished("shop")
    autoscaled.ask().result(5)
    again = autoscaled.ask()
    assert autoscaled.held()
    assert not again.done()
    autoscaled.publish()
    again.result(5)
    assert autoscaled.metrics_gate.list_unfinished("shop")  # it was answered; what it makes of that is not known yet


def test_new_tick_holds_requests_again(autoscaled: AutoscaledNamespace) -> None:
    autoscaled.ask().result(5)
    autoscaled.ask()
    assert autoscaled.held()
    autoscaled.tick += 15  # nobody was told yet: being held at an old tick is no answer to the new one
    assert autoscaled.metrics_gate.list_unfinished("shop")


def test_other_clients_are_never_held(autoscaled: AutoscaledNamespace) -> None:
    for _ in range(3):
        autoscaled.ask("kubectl/v1.34.2 (linux/amd64) kubernetes/8cc511e").result(5)


def test_sync_takes_one_request_per_metric(autoscaled: AutoscaledNamespace) -> None:
    memory = {**CPU, "resource": {"name": "memory"}}
    autoscaled.scaler(CPU, memory)
    autoscaled.ask().result(5)
    autoscaled.ask().result(5)
    third = autoscaled.ask()
    assert autoscaled.held()
    autoscaled.publish()
    third.result(5)


def test_changed_autoscaler_is_tracked_again(autoscaled: AutoscaledNamespace) -> None:
    autoscaled.ask().result(5)
    again = autoscaled.ask()
    assert autoscaled.held()
    autoscaled.scaler(reason="FailedGetResourceMetric")  # status alone is the controller's own doing
    assert not again.done()
    autoscaled.scaler(maximum=8)
    again.result(5)


def test_release_and_close_unblock_all_requests(autoscaled: AutoscaledNamespace) -> None:
    autoscaled.ask().result(5)
    again = autoscaled.ask()
    assert autoscaled.held()
    autoscaled.metrics_gate.release("shop")
    again.result(5)
    last = autoscaled.ask()
    assert autoscaled.held()
    autoscaled.metrics_gate.close()
    last.result(5)


CASES: dict[str, tuple[Callable[[AutoscaledNamespace], None], bool]] = {
    "at zero it is switched off": (lambda s: s.deployment(0), False),
    "its target is missing": (lambda s: s.scaler(target="StatefulSet"), False),
    "it has nothing of ours to ask": (lambda s: s.scaler({"type": "External"}), False),
    "two of them want the same pods": (lambda s: s.scaler(reason="AmbiguousSelector"), False),
    "metrics were missing": (lambda s: s.scaler(reason="FailedGetResourceMetric"), True),
    "out of bounds": (lambda s: s.deployment(9), True),
}


@pytest.mark.parametrize("name", CASES)
def test_list_unfinished_follows_autoscaler_state(autoscaled: AutoscaledNamespace, name: str) -> None:
    change, waited_for = CASES[name]
    change(autoscaled)
    assert bool(autoscaled.metrics_gate.list_unfinished("shop")) is waited_for


def test_pacing_ends_when_the_clock_advances(autoscaled: AutoscaledNamespace) -> None:
    autoscaled.ask().result(5)
    again = autoscaled.ask()
    assert autoscaled.held()
    threading.Timer(0.0, lambda: setattr(autoscaled, "tick", 30.0)).start()  # without being told
    again.result(5)


def test_selector_object_equals_request_selector() -> None:
    selector = {
        "matchLabels": {"a": "b"},
        "matchExpressions": [
            {"key": "c", "operator": "In", "values": ["x", "y"]},
            {"key": "d", "operator": "DoesNotExist"},
            {"key": "e", "operator": "Exists"},
            {"key": "f", "operator": "NotIn", "values": ["z"]},
        ],
    }
    assert parse_object(selector) == parse("a=b,c in (x,y),!d,e,f notin (z)")


def test_bounds_and_deletion() -> None:
    hpa: Any = {"metadata": {}, "spec": {"maxReplicas": 3, "metrics": [CPU]}}
    assert [is_within(hpa, {"spec": {"replicas": n}}) for n in (0, 1, 3, 4)] == [False, True, True, False]
    assert is_querying(hpa)
    assert not is_querying({**hpa, "metadata": {"deletionTimestamp": "now"}})
