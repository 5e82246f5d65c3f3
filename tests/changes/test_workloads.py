"""Questions about workloads: which pods are theirs, and whether a rollout is through."""

import pytest

from scenario_kit.changes.workloads import is_settled, list_pods
from scenario_kit.model import Reference
from scenario_kit.testing import FakeCluster

ABSENT = {"operator": "DoesNotExist"}


def pod(name, namespace="shop", **labels):
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}}


def workload(name, selector):
    spec = {"selector": selector} if selector is not None else {}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Deployment/web", ["web-1", "web-2"]),
        ("Deployment/expressed", ["web-2"]),
        ("Deployment/both", ["web-1"]),
        ("Deployment/unlabelled", ["bare-1"]),
        ("Deployment/all", []),  # without labels nothing is its own, not everything
        ("Deployment/empty", []),
        ("Deployment/absent", []),
        ("Pod/other-1", ["other-1"]),
        ("Pod/absent", []),
    ],
)
def test_list_pods_of_workload(text, found):
    cluster = FakeCluster([
        workload("web", {"matchLabels": {"app": "web"}}), workload("all", None), workload("empty", {}),
        workload("expressed", {"matchExpressions": [{"key": "x", "operator": "In", "values": ["y", "z"]}]}),
        workload("both", {"matchLabels": {"app": "web"}, "matchExpressions": [ABSENT | {"key": "x"}]}),
        workload("unlabelled", {"matchExpressions": [ABSENT | {"key": "app"}]}), pod("bare-1"),
        pod("web-1", app="web"), pod("web-2", app="web", x="y"), pod("other-1", app="other"),
        pod("web-3", namespace="elsewhere", app="web"),
    ])  # fmt: skip
    assert [p["metadata"]["name"] for p in list_pods(cluster, Reference.parse(text).within("shop"))] == found


def deployment(status, replicas=2, generation=3):
    spec = {} if replicas is None else {"replicas": replicas}
    return {"kind": "Deployment", "metadata": {"generation": generation}, "spec": spec, "status": status}


def build_rolled_out_status(**changes):
    return {"observedGeneration": 3, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2} | changes


def drop_fields(status, *fields):
    return {k: v for k, v in status.items() if k not in fields}


@pytest.mark.parametrize(
    ("obj", "through"),
    [
        (deployment(build_rolled_out_status()), True),
        (deployment(build_rolled_out_status(observedGeneration=4)), True),
        (deployment(build_rolled_out_status(observedGeneration=2)), False),
        (deployment(drop_fields(build_rolled_out_status(), "observedGeneration")), False),
        (deployment(drop_fields(build_rolled_out_status(), "observedGeneration"), generation=1), False),
        (deployment(build_rolled_out_status(replicas=3)), False),  # old ones are still there
        (deployment(build_rolled_out_status(updatedReplicas=1)), False),
        (deployment(build_rolled_out_status(updatedReplicas=1, replicas=1)), False),
        (deployment(build_rolled_out_status(availableReplicas=1)), False),
        (deployment(drop_fields(build_rolled_out_status(), "availableReplicas")), False),
        (deployment(drop_fields(build_rolled_out_status(), "updatedReplicas")), False),
        (deployment(drop_fields(build_rolled_out_status(), "replicas")), False),
        (deployment(build_rolled_out_status(replicas=1, updatedReplicas=1, availableReplicas=1), replicas=None), True),
        (deployment(build_rolled_out_status(replicas=0, updatedReplicas=0, availableReplicas=0), replicas=None), False),
        (deployment(build_rolled_out_status(replicas=3, updatedReplicas=3, availableReplicas=3)), True),
        (deployment({"observedGeneration": 3}, replicas=0), True),
        (deployment({"observedGeneration": 3}, replicas=1), False),
        (deployment(None), False),
        ({"kind": "Deployment", "spec": {"replicas": 0}}, True),
    ],
)
def test_is_settled_of_rollout(obj, through):
    assert is_settled(obj) is through


def daemons(**status):
    return {
        "kind": "DaemonSet",
        "metadata": {"generation": 1},
        "spec": {},
        "status": {"observedGeneration": 1, **status},
    }


@pytest.mark.parametrize(
    ("obj", "through"),
    [
        (daemons(desiredNumberScheduled=3, updatedNumberScheduled=3, numberAvailable=3), True),
        (daemons(desiredNumberScheduled=3, updatedNumberScheduled=4, numberAvailable=4), True),
        (daemons(desiredNumberScheduled=3, updatedNumberScheduled=2, numberAvailable=3), False),
        (daemons(desiredNumberScheduled=3, updatedNumberScheduled=3, numberAvailable=2), False),
        (daemons(desiredNumberScheduled=1, updatedNumberScheduled=1), False),
        (daemons(desiredNumberScheduled=1, numberAvailable=1), False),
        (daemons(desiredNumberScheduled=0), True),
        (daemons(), True),
    ],
)
def test_is_settled_of_daemon_set(obj, through):
    assert is_settled(obj) is through
