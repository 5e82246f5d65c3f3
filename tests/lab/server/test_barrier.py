"""The barrier: complete by revisions, else by comparison, and never by waiting."""

from __future__ import annotations

import threading

import pytest

from scenario_kit.errors import LabError
from scenario_kit.lab.informers import barrier as module
from scenario_kit.lab.informers.barrier import Barrier, Listing
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.informers.watched_kinds import Watched
from tests.lab.server.test_store import obj

PODS, CHAOS = Watched("Pod"), Watched("NetworkChaos", "chaos-mesh.org")


class Api:
    """A scripted API server; ``lists`` are the listed kinds."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.content: dict[str, dict[tuple[str, str], int]] = {}
        self.lists: list[tuple[str, str]] = []

    def current(self) -> int:
        return self.at

    def listing(self, watched: Watched, namespace: str) -> Listing:
        self.lists.append((watched.kind, namespace))
        found = self.content.get(watched.kind, {})
        return Listing(self.at, {k: v for k, v in found.items() if namespace in ("", k[0])})


@pytest.fixture
def store() -> ObjectStore:
    return ObjectStore()


@pytest.fixture
def api() -> Api:
    return Api(0)


@pytest.fixture
def barrier(api: Api, store: ObjectStore) -> Barrier:
    return Barrier(api, store, (PODS,))


def test_barrier_compares_all_objects_once(api: Api, store: ObjectStore, barrier: Barrier) -> None:
    store.put("Pod", obj("a", 7))
    api.at, api.content = 7, {"Pod": {("shop", "a"): 7}}
    barrier.wait("shop")
    barrier.wait("shop")
    assert api.lists == [("Pod", "shop")]


def test_barrier_skips_list_if_all_revisions_arrived(api: Api, store: ObjectStore, barrier: Barrier) -> None:
    barrier.wait("shop")
    api.lists.clear()
    store.put("Pod", obj("a", 1))
    store.pass_by("Event", obj("e", 2))
    store.pass_revision(3)
    api.at = 3
    barrier.wait("shop")
    assert api.lists == []


def test_missing_revision_triggers_a_comparison(
    api: Api, store: ObjectStore, barrier: Barrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_IN_FLIGHT_SECONDS", 0.0)
    barrier.wait("shop")
    api.lists.clear()
    store.put("Pod", obj("a", 2))
    api.at, api.content = 2, {"Pod": {("shop", "a"): 2}}
    barrier.wait("shop")
    assert api.lists == [("Pod", "shop")]


def test_barrier_waits_for_delivery_in_progress(api: Api, store: ObjectStore, barrier: Barrier) -> None:
    barrier.wait("shop")
    api.at = 1
    late = threading.Timer(0.02, store.put, ("Pod", obj("a", 1)))
    late.start()
    barrier.wait("shop")
    assert list(store.names("shop", "Pod")) == ["a"]


def test_full_comparison_covers_new_namespaces(api: Api, store: ObjectStore, barrier: Barrier) -> None:
    store.put("Pod", obj("a", 1, "elsewhere"))
    api.at, api.content = 1, {"Pod": {("elsewhere", "a"): 1}}
    barrier.prove()
    api.lists.clear()
    barrier.wait("shop")
    assert api.lists == []


@pytest.mark.parametrize("behind", ["older", "missing", "surplus"])
def test_stale_store_is_an_error(
    behind: str, api: Api, store: ObjectStore, barrier: Barrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.001)
    monkeypatch.setattr(module, "_LIMIT_SECONDS", 0.005)
    if behind != "missing":
        store.put("Pod", obj("a", 3))
    api.at = 5
    api.content = {"Pod": {} if behind == "surplus" else {("shop", "a"): 5}}
    with pytest.raises(LabError, match="copy of Pod in namespace shop"):
        barrier.wait("shop")


def test_objects_newer_than_the_list_pass(api: Api, store: ObjectStore, barrier: Barrier) -> None:
    store.put("Pod", obj("a", 9))
    store.put("Pod", obj("b", 8))
    api.at, api.content = 5, {"Pod": {("shop", "a"): 5}}
    barrier.wait("shop")
    assert api.lists == [("Pod", "shop")]


def test_experiments_are_compared_in_all_namespaces(api: Api, store: ObjectStore) -> None:
    from scenario_kit.lab.informers.watched_kinds import EXPERIMENTS

    Barrier(api, store, EXPERIMENTS).wait("shop")
    assert {namespace for _, namespace in api.lists} == {""}
