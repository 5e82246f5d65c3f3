"""The object store: copy on write, versions, the twin's view, and delivered revisions."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.model import Object


def obj(name: str, revision: int, namespace: str = "shop", uid: str = "", **more: Any) -> Object:
    meta = {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}", "resourceVersion": str(revision)}
    return {"metadata": {k: v for k, v in meta.items() if v}, **more}


def test_reader_snapshot_is_immutable() -> None:
    store = ObjectStore()
    store.put("Pod", obj("b", 1))
    before = store.kinds("shop")
    store.put("Pod", obj("a", 2))
    store.drop("Pod", obj("b", 3))
    assert list(before["Pod"]) == ["b"]
    assert list(store.names("shop", "Pod")) == ["a"]


def test_names_are_in_order_whatever_the_order_of_arrival() -> None:
    store = ObjectStore()
    for revision, name in enumerate(("c", "a", "b"), start=1):
        store.put("Pod", obj(name, revision))
    assert list(store.names("shop", "Pod")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("second", "kept"),
    [
        (obj("a", 4, tag="old"), "first"),
        (obj("a", 6, tag="new"), "new"),
        (obj("a", 2, uid="other", tag="replaced"), "replaced"),
    ],
)
def test_older_version_is_ignored(second: Object, kept: str) -> None:
    store = ObjectStore()
    store.put("Pod", obj("a", 5, tag="first"))
    store.put("Pod", second)
    assert store.names("shop", "Pod")["a"]["tag"] == kept


def test_deletion_of_a_predecessor_keeps_the_successor() -> None:
    store = ObjectStore()
    store.put("Pod", obj("a", 5, uid="new"))
    store.drop("Pod", obj("a", 6, uid="old"))
    assert list(store.names("shop", "Pod")) == ["a"]


@pytest.mark.parametrize(
    ("kind", "namespace", "shop_changes", "view_grows"),
    [
        ("Pod", "shop", True, True),
        ("Job", "shop", True, False),
        ("PodNetworkChaos", "shop", True, False),
        ("Pod", "other", False, False),
        ("NetworkChaos", "other", True, False),
        ("Node", "", True, False),
    ],
)
def test_namespace_version_follows_relevant_kinds(
    kind: str, namespace: str, shop_changes: bool, view_grows: bool
) -> None:
    store = ObjectStore()
    store.put("Pod", obj("first", 1))
    version, (_, number) = store.version("shop"), store.view("shop")
    store.put(kind, obj("x", 2, namespace))
    assert (store.version("shop") != version) is shop_changes
    assert (store.view("shop")[1] > number) is view_grows


def test_namespace_object_changes_its_own_version() -> None:
    store = ObjectStore()
    version, (_, number) = store.version("shop"), store.view("shop")
    store.put("Namespace", obj("shop", 1, ""))
    assert store.version("shop") != version
    view, grown = store.view("shop")
    assert grown > number
    assert list(view["Namespace"]) == ["shop"]


def test_twin_sees_no_chaos_and_no_bookkeeping() -> None:
    store = ObjectStore()
    for kind in ("Pod", "NetworkChaos", "PodNetworkChaos", "ServiceAccount", "Job"):
        store.put(kind, obj("x", 1, metadata_of=kind))
    assert list(store.view("shop")[0]) == ["Pod"]


def test_managed_fields_are_dropped() -> None:
    store = ObjectStore()
    pod = obj("a", 1)
    pod["metadata"]["managedFields"] = [{}]
    store.put("Pod", pod)
    assert "managedFields" not in store.names("shop", "Pod")["a"]["metadata"]
    assert "managedFields" in pod["metadata"]


def test_revision_is_seen_after_listeners_ran() -> None:
    store = ObjectStore()
    events: list[tuple[str, str, bool]] = []
    store.listen(
        lambda type_, kind, o: events.append((type_, kind, store.saw_all(0, int(o["metadata"]["resourceVersion"]))))
    )
    store.put("Pod", obj("a", 1))
    store.put("Pod", obj("a", 2))
    store.pass_by("Event", obj("e", 3))
    store.drop("Pod", obj("a", 4))
    assert events == [
        ("ADDED", "Pod", False),
        ("MODIFIED", "Pod", False),
        ("PASSED", "Event", False),
        ("DELETED", "Pod", False),
    ]
    assert store.saw_all(0, 4)
    assert not store.saw_all(0, 5)
    store.pass_revision(5)
    assert store.saw_all(0, 5)


def test_listener_hears_of_the_end_of_a_replaced_object() -> None:
    store = ObjectStore()
    events: list[tuple[str, str]] = []
    store.listen(lambda type_, _, o: events.append((type_, o["metadata"]["uid"])))
    store.put("Pod", obj("a", 1, uid="old"))
    store.put("Pod", obj("a", 2, uid="new"))
    assert events == [("ADDED", "old"), ("DELETED", "old"), ("ADDED", "new")]


def test_experiments_of_all_namespaces_are_ordered() -> None:
    store = ObjectStore()
    store.put("PodChaos", obj("p", 1, "b"))
    store.put("NetworkChaos", obj("n", 2, "b"))
    store.put("PodChaos", obj("q", 3, "a"))
    store.put("Pod", obj("r", 4, "a"))
    assert [o["metadata"]["name"] for o in store.experiments()] == ["q", "n", "p"]


def test_quiet_counts_for_the_latest_version_only() -> None:
    store = ObjectStore()
    store.put("Pod", obj("a", 1))
    assert store.quiet_seconds(obj("a", 1)) >= 0.0
    store.put("Pod", obj("a", 2))
    assert store.quiet_seconds(obj("a", 1)) == 0.0


def test_deleted_quota_is_remembered_as_pod_refuser() -> None:
    store = ObjectStore()
    assert store.removed("shop") == 0
    store.put("ResourceQuota", obj("q", 3))
    store.put("ConfigMap", obj("c", 4))
    store.drop("ConfigMap", obj("c", 5))
    assert store.removed("shop") == 0
    store.drop("ResourceQuota", obj("q", 6))
    assert (store.removed("shop"), store.removed("other")) == (6, 0)
