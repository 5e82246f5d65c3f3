"""The settled predicate on workloads, pods, endpoints and namespaces: one change at a time, one reason each."""

from typing import Any

import pytest

from scenario_kit.lab.settle.checks import list_unsettled
from tests.lab.server.cluster_objects import (
    by_kind,
    deployment,
    endpoint_slice,
    facts,
    meta,
    namespace,
    pod,
    put,
    service,
    world,
)

NOW = "2026-01-01T00:00:00Z"


def codes(kinds: dict[str, dict[str, Any]], **more: Any) -> set[str]:
    return {reason.code for reason in list_unsettled(facts(kinds, **more))}


def test_finished_world_is_settled() -> None:
    assert list_unsettled(facts(world())) == []


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("Deployment/cart/metadata/generation", 2, "Generation"),
        ("ReplicaSet/cart-r1/metadata/generation", 2, "Generation"),
        ("Deployment/cart/status/readyReplicas", 0, "Counts"),
        ("Deployment/cart/status/updatedReplicas", 0, "Counts"),
        ("ReplicaSet/cart-r1/status/replicas", 2, "Counts"),
        ("ReplicaSet/cart-r1/spec/replicas", 2, "Missing"),
        ("ReplicaSet/cart-r1/spec/replicas", 0, "Surplus"),
        ("Deployment/cart/spec/replicas", 2, "Rollout"),
        ("Pod/cart-1/metadata/deletionTimestamp", NOW, "Deleting"),
        ("Deployment/cart/metadata/deletionTimestamp", NOW, "Deleting"),
        ("Pod/cart-1/spec/nodeName", None, "Unscheduled"),
        ("Pod/cart-1/metadata/uid", "another", None),
        ("Deployment/cart/metadata/uid", "another", "Orphaned"),
        ("Pod/cart-1/status/podIP", "10.244.0.9", "Endpoints"),
        ("Pod/cart-1/metadata/labels", {}, "Endpoints"),
        ("Service/cart/spec/selector", {"app": "other"}, "Endpoints"),
        ("Service/cart/spec/ports", [{"name": "web", "port": 80, "targetPort": 9999}], "Endpoints"),
        ("EndpointSlice/cart-x/endpoints", [], "Endpoints"),
        ("Service/cart/spec/type", "ExternalName", None),
        ("Service/cart/spec/selector", None, None),
    ],
)
def test_each_difference_has_its_reason(path: str, value: Any, expected: str | None) -> None:
    kinds = world()
    put(kinds, path, value)
    found = codes(kinds)
    assert expected in found if expected else found == set()


def test_pod_with_unknown_scheduler_is_not_evaluated() -> None:
    kinds = world()
    put(kinds, "Pod/cart-1/spec/nodeName", None)
    put(kinds, "Pod/cart-1/spec/schedulerName", "another")
    assert "Unscheduled" not in codes(kinds)


def test_unready_pod_updates_every_level() -> None:
    kinds = world()
    put(kinds, "Pod/cart-1/status/conditions", [{"type": "Ready", "status": "False"}])
    assert codes(kinds) == {"Counts", "Endpoints"}
    put(kinds, "ReplicaSet/cart-r1/status", {"observedGeneration": 1, "replicas": 1})
    assert codes(kinds) == {"Counts", "Endpoints"}  # the Deployment still says what the ReplicaSet said
    put(kinds, "Deployment/cart/status", {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1})
    put(kinds, "EndpointSlice/cart-x/endpoints", [{"addresses": ["10.244.0.1"], "conditions": {"ready": False}}])
    assert codes(kinds) == set()


@pytest.mark.parametrize(
    ("target", "number"),
    [(8080, 8080), ("http", 8080), (9999, 9999)],
)
def test_target_ports_are_resolved(target: int | str, number: int) -> None:
    s = service(target=target)
    kinds = world() | by_kind(s, endpoint_slice(s, ("10.244.0.1", True), port=number))
    assert codes(kinds) == set()


def test_unknown_port_name_yields_no_port() -> None:
    s = service(target="nothing")
    endpoints = endpoint_slice(s, ("10.244.0.1", True))
    endpoints["ports"] = []
    assert codes(world() | by_kind(s, endpoints)) == set()


def test_terminating_pod_in_grace_period_is_not_counted() -> None:
    kinds = world()
    put(kinds, "Pod/cart-1/metadata/deletionTimestamp", NOW)
    kinds["Pod"]["cart-2"] = pod("cart-2", kinds["ReplicaSet"]["cart-r1"], "10.244.0.2")
    s = kinds["Service"]["cart"]
    kinds["EndpointSlice"] = {"cart-x": endpoint_slice(s, ("10.244.0.1", False), ("10.244.0.2", True))}
    assert codes(kinds) == {"Deleting"}
    assert codes(kinds, stopping={"uid-cart-1"}) == set()


def test_unschedulable_pod_is_refused_and_settled() -> None:
    kinds = world()
    put(kinds, "Pod/cart-1/spec/nodeName", None)
    put(kinds, "Pod/cart-1/status", {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False"}]})
    put(kinds, "EndpointSlice/cart-x/endpoints", [])
    put(kinds, "ReplicaSet/cart-r1/status", {"observedGeneration": 1, "replicas": 1})
    put(kinds, "Deployment/cart/status", {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1})
    assert codes(kinds) == set()


def build_refused_world() -> dict[str, dict[str, Any]]:
    """A ReplicaSet whose only pod was rejected at revision 100."""
    kinds = world()
    del kinds["Pod"]
    put(kinds, "EndpointSlice/cart-x/endpoints", [])
    failure = [{"type": "ReplicaFailure", "status": "True"}]
    put(kinds, "ReplicaSet/cart-r1/status", {"observedGeneration": 1, "conditions": failure})
    put(kinds, "Deployment/cart/status", {"observedGeneration": 1})
    return kinds


@pytest.mark.parametrize(
    ("quota_revision", "refusals", "expected"),
    [
        (90, {}, set()),
        (110, {}, {"StaleRefusal"}),
        (110, {"uid-cart-r1": 105}, {"StaleRefusal"}),
        (110, {"uid-cart-r1": 120}, set()),
    ],
)
def test_refusal_counts_only_if_newer_than_its_remedy(
    quota_revision: int, refusals: dict[str, int], expected: set[str]
) -> None:
    kinds = build_refused_world()
    quota = {
        "kind": "ResourceQuota",
        "metadata": meta("q", resourceVersion=str(quota_revision)),
        "spec": {},
        "status": {},
    }
    assert codes(kinds | by_kind(quota), refused=refusals) == expected


@pytest.mark.parametrize(
    "more",
    [
        {"namespace": namespace(resourceVersion="110")},
        {"refusers": [{"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "w", "resourceVersion": "110"}}]},
        {"lifted": 110},
    ],
)
def test_namespace_and_cluster_policies_refuse_pods(more: dict[str, Any]) -> None:
    assert codes(build_refused_world(), **more) == {"StaleRefusal"}
    assert codes(build_refused_world(), refused={"uid-cart-r1": 120}, **more) == set()


def test_missing_pod_without_refusal_is_unsettled() -> None:
    kinds = build_refused_world()
    put(kinds, "ReplicaSet/cart-r1/status", {"observedGeneration": 1})
    assert codes(kinds) == {"Missing"}


def test_deployment_without_replica_set_is_unsettled() -> None:
    kinds = world()
    put(kinds, "Deployment/cart/metadata/annotations", {"deployment.kubernetes.io/revision": "2"})
    assert codes(kinds) == {"Rollout"}


@pytest.mark.parametrize(
    ("reason", "expected"), [("ReplicaSetUpdated", {"Deadline"}), ("NewReplicaSetAvailable", set())]
)
def test_overdue_rollout_needs_its_condition(reason: str, expected: set[str]) -> None:
    kinds = world()
    put(kinds, "Deployment/cart/status/conditions", [{"type": "Progressing", "status": "True", "reason": reason}])
    assert codes(kinds, overdue={"cart"}) == expected


@pytest.mark.parametrize(
    ("own", "kinds", "expected"),
    [
        (None, {}, set()),
        (None, world(), {"Ending"}),
        (namespace(deletionTimestamp=NOW), world(), {"Ending"}),
        (namespace(deletionTimestamp=NOW), by_kind({"kind": "ServiceAccount", "metadata": meta("default")}), set()),
        (namespace(), {}, {"Beginning"}),
    ],
)
def test_namespaces_begin_complete_and_end_empty(own: Any, kinds: Any, expected: set[str]) -> None:
    assert codes(kinds, namespace=own) == expected


def stateful(replicas: int, *pods: tuple[str, bool]) -> dict[str, dict[str, Any]]:
    ready = sum(flag for _, flag in pods)
    owner = {
        "kind": "StatefulSet",
        "metadata": meta("db"),
        "spec": {"replicas": replicas},
        "status": {"observedGeneration": 1, "replicas": len(pods), "readyReplicas": ready, "updateRevision": "v2"},
    }
    own = [pod(f"db-{n}", owner, f"10.244.1.{n}", flag) for n, (_, flag) in enumerate(pods)]
    for made, (revision, _) in zip(own, pods, strict=True):
        made["metadata"]["labels"] = {"controller-revision-hash": revision}
    return world() | by_kind(owner, *own, world()["Pod"]["cart-1"])


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (stateful(2, ("v2", True), ("v2", True)), set()),
        (stateful(3, ("v2", True), ("v2", True)), {"Missing"}),
        (stateful(3, ("v2", True), ("v2", False)), set()),  # the next one waits for this one
        (stateful(2, ("v1", True), ("v2", True)), {"Rollout"}),
        (stateful(2, ("v1", True), ("v2", False)), set()),  # stuck
    ],
)
def test_stateful_set_updates_in_order(kinds: Any, expected: set[str]) -> None:
    assert codes(kinds) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"active": 1}, {"Counts", "Missing"}),
        ({"succeeded": 1}, {"Counts"}),  # its controller has not said yet that it is Complete
        ({"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}, set()),
        ({"failed": 1}, {"Missing"}),
        ({"failed": 1, "conditions": [{"type": "Failed", "status": "True"}]}, set()),
        ({"conditions": [{"type": "Complete", "status": "True"}]}, set()),
        ({}, {"Missing"}),
    ],
)
def test_job_needs_its_active_pods(status: Any, expected: set[str]) -> None:
    job = {"kind": "Job", "metadata": meta("j"), "spec": {"completions": 1, "parallelism": 1}, "status": status}
    assert codes(world() | by_kind(job)) == expected


def test_reasons_name_the_object() -> None:
    kinds = world()
    kinds["Deployment"]["cart"] = deployment() | {"status": {}}
    assert str(list_unsettled(facts(kinds))[0]) == "Deployment/cart: generation 1 is not observed, but 0"
