"""The loop around the predicate: two equal collections, the kubelet idle, nothing taken for granted."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable

import pytest

from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.settle import waiter
from scenario_kit.lab.settle.requeue import Requeuer
from scenario_kit.lab.settle.waiter import Settler
from scenario_kit.testing import FakeCluster
from tests.lab.server.cluster_objects import namespace, world


class Gate:
    """A barrier that is always up to date, and lets a test act when it is passed."""

    def __init__(self) -> None:
        self.passed = 0
        self.then: dict[int, Callable[[], None]] = {}

    def wait(self, _: str) -> None:
        self.passed += 1
        self.then.get(self.passed, lambda: None)()

    def forget(self, _: str) -> None:
        return


@pytest.fixture
def store() -> ObjectStore:
    store = ObjectStore()
    for kind, names in world().items():
        for obj in names.values():
            store.put(kind, obj)
    store.put("Namespace", namespace())
    return store


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def settler(store: ObjectStore, gate: Gate) -> Settler:
    return Settler(store, gate, Requeuer(FakeCluster()))  # type: ignore[arg-type]


def put_unready(store: ObjectStore, revision: int) -> None:
    rs = copy.deepcopy(store.names("shop", "ReplicaSet")["cart-r1"])
    rs["metadata"]["resourceVersion"] = str(revision)
    rs["status"]["readyReplicas"] = 0
    store.put("ReplicaSet", rs)


def put_ready(store: ObjectStore, revision: int) -> None:
    rs = copy.deepcopy(store.names("shop", "ReplicaSet")["cart-r1"])
    rs["metadata"]["resourceVersion"] = str(revision)
    rs["status"]["readyReplicas"] = 1
    store.put("ReplicaSet", rs)


def test_settled_state_is_verified_twice_and_cached(settler: Settler, gate: Gate) -> None:
    assert settler.settle(["shop"], lambda: 0, 5.0) == ()
    assert gate.passed == 2
    assert settler.is_unchanged("shop")
    assert settler.settle(["shop"], lambda: 0, 5.0) == ()
    assert gate.passed == 3


def test_second_collection_is_checked_again(settler: Settler, store: ObjectStore, gate: Gate) -> None:
    gate.then = {2: lambda: put_unready(store, 201), 3: lambda: put_ready(store, 202)}
    reasons = settler.settle(["shop"], lambda: 0, 0.0)
    assert [r.code for r in reasons] == ["Moving"]
    put_ready(store, 203)
    assert settler.settle(["shop"], lambda: 0, 5.0) == ()


def test_unsettled_state_has_reasons(settler: Settler, store: ObjectStore) -> None:
    put_unready(store, 201)
    reasons = settler.settle(["shop"], lambda: 0, 0.0)
    assert {r.name for r in reasons} == {"cart-r1", "cart"}
    assert not settler.is_unchanged("shop")


def test_pending_kubelet_work_is_unsettled(settler: Settler, store: ObjectStore) -> None:
    put_unready(store, 201)
    writes = iter([1, 1])

    def run_nodes() -> int:
        done = next(writes, 0)
        if not done:
            put_ready(store, 202)
        return done

    assert settler.settle(["shop"], run_nodes, 5.0) == ()
    assert next(writes, None) is None


def test_change_in_another_namespace_does_not_unsettle(settler: Settler, store: ObjectStore) -> None:
    settler.settle(["shop"], lambda: 0, 5.0)
    store.put("Pod", {"metadata": {"name": "x", "namespace": "other", "uid": "x", "resourceVersion": "300"}})
    assert settler.is_unchanged("shop")
    put_unready(store, 301)
    assert not settler.is_unchanged("shop")


def test_settle_stops_when_the_caller_left(settler: Settler, store: ObjectStore) -> None:
    put_unready(store, 201)
    assert settler.settle(["shop"], lambda: 0, 60.0, should_continue=lambda: False)


def test_terminating_pods_do_not_block_settling(settler: Settler, store: ObjectStore) -> None:
    pod = copy.deepcopy(store.names("shop", "Pod")["cart-1"])
    pod["metadata"] |= {"deletionTimestamp": "x", "deletionGracePeriodSeconds": 30, "resourceVersion": "300"}
    store.put("Pod", pod)
    assert "Deleting" not in {r.code for r in settler.settle(["shop"], lambda: 0, 0.0)}
    pod = copy.deepcopy(pod)
    pod["metadata"] |= {"deletionGracePeriodSeconds": 0, "resourceVersion": "301"}
    store.put("Pod", pod)
    assert "Deleting" in {r.code for r in settler.settle(["shop"], lambda: 0, 0.0)}


def put_refused_pod(store: ObjectStore) -> None:
    verdict = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    metadata = {"name": "new", "namespace": "shop", "uid": "new", "resourceVersion": "400"}
    spec = {"containers": [{"name": "c"}]}
    store.put("Pod", {"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"conditions": [verdict]}})


def node(store: ObjectStore, revision: int, **spec: object) -> None:
    metadata = {"name": "n1", "uid": "n1", "resourceVersion": str(revision)}
    status = {"allocatable": {"pods": "110"}, "beat": revision}
    store.put("Node", {"kind": "Node", "metadata": metadata, "spec": spec, "status": status})


def test_free_capacity_unsettles_until_scheduler_has_had_time(
    settler: Settler, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_refused_pod(store)
    node(store, 401, unschedulable=True)
    assert settler.settle(["shop"], lambda: 0, 5.0) == ()
    node(store, 402, unschedulable=True)
    assert settler.is_unchanged("shop"), "a heartbeat changes nothing"
    node(store, 403)
    assert [r.code for r in settler.settle(["shop"], lambda: 0, 0.0)] == ["Due"]
    now = time.monotonic()
    monkeypatch.setattr("scenario_kit.lab.settle.waiter.time.monotonic", lambda: now + 20)
    assert settler.settle(["shop"], lambda: 0, 5.0) == ()


def test_kubelet_runs_only_where_controllers_have_no_work(settler: Settler, store: ObjectStore) -> None:
    """A pod that is about to be deleted at the same instant must not start on a busy machine, and not on another."""
    put_unready(store, 201)
    ran: list[bool] = []

    def run_nodes() -> int:
        ran.append(bool(store.names("shop", "ReplicaSet")["cart-r1"]["status"]["readyReplicas"]))
        return 0

    looks = iter([lambda: None, lambda: None, lambda: put_ready(store, 202)])

    def should_continue() -> bool:
        next(looks, lambda: None)()
        return True

    assert settler.settle(["shop"], run_nodes, 60.0, should_continue=should_continue) == ()
    assert ran == [True]


def test_kubelet_runs_if_controllers_wait_for_it(
    settler: Settler, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiter, "_STALLED_SECONDS", 0.0)
    put_unready(store, 201)

    def run_nodes() -> int:
        if store.names("shop", "ReplicaSet")["cart-r1"]["status"]["readyReplicas"]:
            return 0
        put_ready(store, 202)
        return 1

    assert settler.settle(["shop"], run_nodes, 60.0) == ()


def test_namespaces_settle_together(settler: Settler, store: ObjectStore) -> None:
    """The kubelet runs in all namespaces of an app at once, so none of them may be unsettled."""
    store.put("Namespace", namespace() | {"metadata": {**namespace()["metadata"], "name": "data", "uid": "data"}})
    ran: list[int] = []

    def run_nodes() -> int:
        ran.append(1)
        return 0

    reasons = settler.settle(["shop", "data"], run_nodes, 0.0)
    assert {r.code for r in reasons} == {"Beginning"}
    assert not ran
    assert not settler.is_unchanged("shop")
