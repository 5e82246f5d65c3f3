"""The settled predicate while pods stop: a grace period runs on the trial's clock, so nobody waits for it here.

Statuses are those that the controllers of Kubernetes 1.34 wrote of pods with a ``preStop`` hook.
"""

from typing import Any

import pytest

from scenario_kit.lab.settle.checks import list_unsettled
from tests.lab.server.cluster_objects import by_kind, facts, meta, namespace, pod, put, world

NOW = "2026-01-01T00:00:00Z"


def _list_codes(kinds: dict[str, dict[str, Any]], *stopping: str, **more: Any) -> set[str]:
    return {reason.code for reason in list_unsettled(facts(kinds, stopping=set(stopping), **more))}


def _delete(kinds: dict[str, dict[str, Any]], *names: str) -> dict[str, dict[str, Any]]:
    for name in names:
        put(kinds, f"Pod/{name}/metadata/deletionTimestamp", NOW)
    return kinds


def _add_owner(kind: str, pods: int, **owner: Any) -> dict[str, dict[str, Any]]:
    """A workload with ready pods ``db-0``, ``db-1`` …, of one revision."""
    obj = {"kind": kind, "metadata": meta("db"), **owner}
    own = [pod(f"db-{number}", obj, f"10.244.1.{number}") for number in range(pods)]
    for each in own:
        each["metadata"]["labels"] = {"controller-revision-hash": "v2"}
    return world() | by_kind(obj, *own, world()["Pod"]["cart-1"])


def test_pod_of_a_deleted_owner_is_not_collected_again() -> None:
    kinds = _delete(world(), "cart-1")
    del kinds["Deployment"], kinds["ReplicaSet"]
    put(kinds, "EndpointSlice/cart-x/endpoints", [{"addresses": ["10.244.0.1"], "conditions": {"ready": False}}])
    assert _list_codes(kinds) == {"Deleting", "Orphaned"}
    assert _list_codes(kinds, "uid-cart-1") == set()


@pytest.mark.parametrize(
    ("blocks", "finalizers", "expected"),
    [
        (True, ["foregroundDeletion"], set()),
        (False, ["foregroundDeletion"], {"Deleting"}),  # the collector does not wait for this dependent
        (True, [], {"Deleting"}),
    ],
)
def test_foreground_deletion_waits_for_stopping_pods(blocks: bool, finalizers: list[str], expected: set[str]) -> None:
    kinds = _delete(world(), "cart-1")
    for path in ("Deployment/cart", "ReplicaSet/cart-r1"):
        put(kinds, f"{path}/metadata/deletionTimestamp", NOW)
        put(kinds, f"{path}/metadata/finalizers", finalizers)
    for kind, name in (("ReplicaSet", "cart-r1"), ("Pod", "cart-1")):
        kinds[kind][name]["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = blocks
    put(kinds, "EndpointSlice/cart-x/endpoints", [{"addresses": ["10.244.0.1"], "conditions": {"ready": False}}])
    put(kinds, "ReplicaSet/cart-r1/status", {"observedGeneration": 1})
    put(kinds, "Deployment/cart/status", {"observedGeneration": 1})
    assert _list_codes(kinds, "uid-cart-1") == expected
    if not expected:
        assert _list_codes(kinds) == {"Deleting"}, "the pod, if nothing keeps it"


@pytest.mark.parametrize(
    ("kind", "spec", "status"),
    [
        ("StatefulSet", {"replicas": 3, "podManagementPolicy": "Parallel"}, {"replicas": 2, "readyReplicas": 2}),
        ("DaemonSet", {}, {"observedGeneration": 0, "desiredNumberScheduled": 3, "numberReady": 3}),
        ("Job", {"completions": 2, "parallelism": 2}, {"active": 1}),
    ],
)
def test_deleted_workload_makes_no_pods(kind: str, spec: Any, status: Any) -> None:
    kinds = _delete(_add_owner(kind, 2, spec=spec, status={"observedGeneration": 1, **status}), "db-0")
    assert _list_codes(kinds, "uid-db-0") >= {"Missing"}
    put(kinds, f"{kind}/db/metadata/deletionTimestamp", NOW)
    put(kinds, f"{kind}/db/metadata/finalizers", ["foregroundDeletion"])
    for each in kinds["Pod"].values():
        each["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = True
    assert _list_codes(kinds, "uid-db-0") == set()


def test_terminating_namespace_may_hold_stopping_pods() -> None:
    kinds, own = {"Pod": _delete(world(), "cart-1")["Pod"]}, namespace()
    own["metadata"]["deletionTimestamp"] = NOW
    assert _list_codes(kinds, namespace=own) == {"Ending"}
    assert _list_codes(kinds, "uid-cart-1", namespace=own) == set()


def test_terminating_namespace_keeps_all_else_until_its_pods_have_stopped() -> None:
    kinds, own = _delete(world(), "cart-1"), namespace()
    own["metadata"]["deletionTimestamp"] = NOW
    assert _list_codes(kinds, "uid-cart-1", namespace=own) == set()
    assert _list_codes(kinds, namespace=own) == {"Ending"}, "nothing stops"
    kinds["Pod"]["cart-2"] = pod("cart-2", kinds["ReplicaSet"]["cart-r1"], "10.244.0.2")
    assert _list_codes(kinds, "uid-cart-1", namespace=own) == {"Ending"}, "a pod is left to delete"


@pytest.mark.parametrize(
    ("policy", "replicas", "pods", "expected"),
    [
        ("OrderedReady", 2, 2, set()),
        ("Parallel", 2, 2, set()),  # the name of the stopping pod is taken
        ("Parallel", 3, 2, {"Missing"}),
        ("Parallel", 1, 2, set()),
        ("Parallel", 1, 3, {"Missing"}),  # one too many
    ],
)
def test_stateful_set_awaits_its_stopping_pod(policy: str, replicas: int, pods: int, expected: set[str]) -> None:
    status = {"observedGeneration": 1, "replicas": pods, "readyReplicas": pods, "updateRevision": "v2"}
    spec = {"replicas": replicas, "podManagementPolicy": policy}
    kinds = _delete(_add_owner("StatefulSet", pods, spec=spec, status=status), "db-0")
    assert _list_codes(kinds, "uid-db-0") == expected


@pytest.mark.parametrize(("pods", "stopping", "expected"), [(3, ["uid-db-0"], set()), (2, ["uid-db-0"], {"Missing"})])
def test_daemon_set_awaits_its_stopping_pods(pods: int, stopping: list[str], expected: set[str]) -> None:
    status = {"observedGeneration": 1, "desiredNumberScheduled": 3, "numberReady": pods}
    kinds = _delete(_add_owner("DaemonSet", pods, spec={}, status=status), "db-0")
    assert _list_codes(kinds, *stopping) == expected


def test_recreated_deployment_awaits_its_old_pods() -> None:
    kinds = world()
    put(kinds, "Deployment/cart/spec/strategy", {"type": "Recreate"})
    put(kinds, "Deployment/cart/spec/template", {"spec": {"containers": [{"image": "new"}]}})
    put(kinds, "ReplicaSet/cart-r1/spec", {"replicas": 0, "template": {"spec": {"containers": [{"image": "old"}]}}})
    put(kinds, "ReplicaSet/cart-r1/status", {"observedGeneration": 1})
    put(kinds, "Deployment/cart/status", {"observedGeneration": 1})
    put(kinds, "EndpointSlice/cart-x/endpoints", [{"addresses": ["10.244.0.1"], "conditions": {"ready": False}}])
    _delete(kinds, "cart-1")
    assert _list_codes(kinds, "uid-cart-1") == set()
    del kinds["Pod"]["cart-1"]
    put(kinds, "EndpointSlice/cart-x/endpoints", [])
    assert _list_codes(kinds) == {"Rollout"}, "now it makes the new ones"


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        ({}, {"failed": 1, "conditions": [{"type": "FailureTarget", "status": "True"}]}, set()),
        ({}, {"succeeded": 1}, set()),  # Complete follows once no pod is left
        ({"podReplacementPolicy": "Failed"}, {}, set()),
        ({}, {}, {"Missing"}),  # replaced at once
    ],
)
def test_job_that_ends_awaits_its_stopping_pods(spec: Any, status: Any, expected: set[str]) -> None:
    spec = {"completions": 1, "parallelism": 1, **spec}
    kinds = _delete(_add_owner("Job", 1, spec=spec, status=status), "db-0")
    assert _list_codes(kinds, "uid-db-0") == expected
