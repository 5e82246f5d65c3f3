"""Work that controllers never finish counts as settled: a world must not wait for it."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.lab.settle.checks import Facts, list_unsettled
from scenario_kit.model import Object
from tests.lab.server.cluster_objects import NAMESPACE, meta, namespace, world

DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def codes(kinds: dict[str, dict[str, Object]], quiet: float = 5.0, **more: Any) -> list[str]:
    return [r.code for r in list_unsettled(Facts(namespace=namespace(), kinds=kinds, quiet=lambda _: quiet, **more))]


def without_label(label: str, value: str | None) -> dict[str, dict[str, Object]]:
    kinds = world()
    slice_ = next(iter(kinds["EndpointSlice"].values()))
    service = kinds["Service"]["cart"]
    slice_["metadata"]["ownerReferences"] = [{"kind": "Service", "name": "cart", "uid": service["metadata"]["uid"]}]
    labels = {**slice_["metadata"]["labels"], label: value}
    slice_["metadata"]["labels"] = {k: v for k, v in labels.items() if v is not None}
    slice_["endpoints"] = []
    return kinds


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("kubernetes.io/service-name", None),
        ("kubernetes.io/service-name", "another"),
        ("endpointslice.kubernetes.io/managed-by", None),
        ("endpointslice.kubernetes.io/managed-by", "me"),
    ],
)
def test_slice_without_its_label_settles_after_timeout(label: str, value: str | None) -> None:
    kinds = without_label(label, value)
    assert codes(kinds) == []
    assert codes(kinds, quiet=0.0) == ["Endpoints"], "its controller may still be at it"


def test_outdated_slice_is_unsettled() -> None:
    kinds = without_label("x", "y")
    assert codes(kinds) == ["Endpoints"]


def test_deletion_blocked_by_a_finalizer_is_settled() -> None:
    kinds = world()
    kinds["Pod"]["held"] = {
        "kind": "Pod", "metadata": meta("held", finalizers=["example.org/hold"], **DELETED),
        "spec": {"nodeName": "worker-1", "containers": []}, "status": {"phase": "Succeeded"},
    }  # fmt: skip
    assert codes(kinds) == []
    assert codes(kinds, quiet=0.0) == ["Deleting"]
    kinds["Pod"]["held"]["metadata"]["finalizers"] = ["foregroundDeletion"]
    assert codes(kinds) == ["Deleting"]


@pytest.mark.parametrize(
    ("version", "kind", "expected"),
    [
        ("serving.knative.dev/v1", "Service", []),
        ("batch.volcano.sh/v1alpha1", "Job", []),
        ("batch/v1", "Job", ["Orphaned"]),
    ],
)
def test_owner_of_another_group(version: str, kind: str, expected: list[str]) -> None:
    kinds = world()
    owner = {"apiVersion": version, "kind": kind, "name": "x", "uid": "somewhere"}
    kinds["ConfigMap"]["owned"] = {"kind": "ConfigMap", "metadata": meta("owned", ownerReferences=[owner])}
    assert codes(kinds) == expected


def job(**status: Any) -> Object:
    return {"kind": "Job", "metadata": meta("work", "j"), "spec": {"parallelism": 1}, "status": status}


def test_suspended_and_foreign_jobs_are_settled() -> None:
    kinds = world()
    kinds["Job"] = {"work": job()}
    assert codes(kinds) == ["Missing"]
    assert codes(kinds, refused={"j": 500}) == [], "no pod is let in"
    kinds["Job"] = {"work": job(failed=2)}
    assert codes(kinds) == [], "it backs off"
    assert codes(kinds, quiet=0.0) == ["Missing"]
    kinds["Job"] = {"work": {**job(), "spec": {"parallelism": 1, "managedBy": "example.org/runner"}}}
    assert codes(kinds) == [], "another controller looks after it"


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_controller_with_rejected_pods_is_settled(kind: str) -> None:
    kinds = world()
    status = {"observedGeneration": 1, "desiredNumberScheduled": 1, "updateRevision": "r"}
    kinds[kind] = {"db": {"kind": kind, "metadata": meta("db", "db"), "spec": {"replicas": 1}, "status": status}}
    assert codes(kinds) == ["Missing"]
    assert codes(kinds, refused={"db": 500}) == []
    quota = {"kind": "ResourceQuota", "metadata": {**meta("quota"), "resourceVersion": "501"}}
    kinds["ResourceQuota"] = {"quota": quota}
    assert codes(kinds, refused={"db": 500}) == ["StaleRefusal"], "what refused it has changed since"


def test_test_world_is_settled() -> None:
    assert codes(world()) == []
    assert NAMESPACE == "shop"
