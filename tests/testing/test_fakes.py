"""Behaviour of the fakes beyond the contract shared with the real implementations."""

from __future__ import annotations

import pytest

from scenario_kit.errors import MetricsError, NotFound, Rejected, Unreachable
from scenario_kit.model import Object, Reference
from scenario_kit.testing import FakeClock, FakeCluster, FakeMetrics


def obj(kind: str, name: str, version: str = "v1", namespace: str = "shop", **body: object) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **body}


def pod(name: str, node: str = "") -> Object:
    return obj("Pod", name, spec={"nodeName": node} if node else {})


def test_put_stores_objects_unchanged() -> None:
    cluster = FakeCluster([obj("Deployment", "cart", "apps/v1", spec={}, status={"readyReplicas": 3})])
    found = cluster.get(Reference("Deployment", "cart", "shop"))
    assert found is not None
    assert found["status"] == {"readyReplicas": 3}
    assert found["metadata"]["generation"] == 1
    assert cluster.get(Reference("Namespace", "shop")) is not None


def test_returned_object_is_a_copy() -> None:
    cluster = FakeCluster([obj("ConfigMap", "c", data={"a": "1"})])
    ref = Reference("ConfigMap", "c", "shop")
    found = cluster.get(ref)
    assert found is not None
    found["data"]["a"] = "2"
    again = cluster.get(ref)
    assert again is not None
    assert again["data"] == {"a": "1"}


def test_requests_are_recorded_and_can_fail() -> None:
    cluster = FakeCluster([obj("ConfigMap", "c", data={})])
    ref = Reference("ConfigMap", "c", "shop")

    def fail(verb: str, target: str) -> None:
        if verb == "delete":
            raise Unreachable(f"no answer about {target}")

    cluster.before = fail
    cluster.patch(ref, {"data": {"a": "b"}})
    with pytest.raises(Unreachable, match="shop/ConfigMap/c"):
        cluster.delete(ref)
    assert cluster.requests == [("patch", "shop/ConfigMap/c")]


def test_running_pod_is_deleted_after_its_kubelet() -> None:
    cluster = FakeCluster([pod("placed", "node-1"), pod("waiting")])
    placed, waiting = (Reference("Pod", name, "shop") for name in ("placed", "waiting"))
    cluster.delete(placed)
    cluster.delete(waiting)
    found = cluster.get(placed)
    assert found is not None
    assert found["metadata"]["deletionTimestamp"]
    assert cluster.get(waiting) is None
    cluster.delete(placed, grace_seconds=0)
    assert cluster.get(placed) is None


def test_namespace_deletion_deletes_contents() -> None:
    held = obj("ConfigMap", "held")
    held["metadata"]["finalizers"] = ["x/y"]
    cluster = FakeCluster([held, obj("Secret", "s"), pod("p", "node-1")])
    cluster.delete(Reference("Namespace", "shop"))
    assert cluster.list("Secret", "shop") == []
    assert cluster.list("Pod", "shop") == []
    assert cluster.get(Reference("Namespace", "shop")) is not None
    cluster.patch(Reference("ConfigMap", "held", "shop"), {"metadata": {"finalizers": []}})
    assert cluster.get(Reference("Namespace", "shop")) is None


def test_dependents_are_deleted_with_last_owner() -> None:
    cluster = FakeCluster([obj("ConfigMap", "one"), obj("ConfigMap", "two")])
    refs = [Reference("ConfigMap", name, "shop") for name in ("one", "two")]
    owners = [{"uid": (cluster.get(r) or {})["metadata"]["uid"], "kind": "ConfigMap", "name": r.name} for r in refs]
    dependent = obj("Secret", "s")
    dependent["metadata"]["ownerReferences"] = owners
    cluster.create(dependent)
    cluster.delete(refs[0])
    assert cluster.get(Reference("Secret", "s", "shop")) is not None
    cluster.delete(refs[1])
    assert cluster.get(Reference("Secret", "s", "shop")) is None


@pytest.mark.parametrize(
    ("patch", "containers"),
    [
        ([{"$patch": "replace"}, {"name": "c"}], [{"name": "c"}]),
        ([{"name": "a", "$patch": "delete"}], [{"name": "b", "args": ["x"]}]),
        ([{"name": "b", "args": ["y", "z"]}], [{"name": "a"}, {"name": "b", "args": ["y", "z"]}]),
        ([{"name": "b", "args": None}], [{"name": "a"}, {"name": "b"}]),
        ([{"name": "c"}], [{"name": "c"}, {"name": "a"}, {"name": "b", "args": ["x"]}]),
    ],
)
def test_strategic_patches(patch: list[Object], containers: list[Object]) -> None:
    spec = {"containers": [{"name": "a"}, {"name": "b", "args": ["x"]}]}
    cluster = FakeCluster([obj("Pod", "p", spec=spec)])
    patched = cluster.patch(Reference("Pod", "p", "shop"), {"spec": {"containers": patch}}, "Strategic")
    assert patched["spec"]["containers"] == containers


def test_refusals() -> None:
    cluster = FakeCluster([obj("PodChaos", "c", "chaos-mesh.org/v1alpha1", spec={})])
    with pytest.raises(Rejected):
        cluster.patch(Reference("PodChaos", "c", "shop"), {}, "Strategic")
    with pytest.raises(NotFound):
        cluster.patch(Reference("PodChaos", "c", "shop"), {}, subresource="scale")
    with pytest.raises(NotFound):
        cluster.create(obj("Deployment", "d"))  # of the core group there is none


def test_logs() -> None:
    cluster = FakeCluster([pod("p")])
    cluster.log("shop", "p", "b", 20.0, "second")
    cluster.log("shop", "p", "a", 10.0, "first")
    assert [line.text for line in cluster.logs(pod("p"))] == ["first", "second"]
    assert [line.text for line in cluster.logs(pod("p"), since=15.0)] == ["second"]


def test_clock_strides() -> None:
    reached: list[float] = []
    clock = FakeClock(100.0, stride=10.0, on_advance=reached.append)
    assert clock.wait(115.0) == 110.0
    assert clock.wait(115.0) == 115.0
    assert clock.wait(50.0) == 115.0
    assert clock.now() == 115.0
    assert reached == [110.0, 115.0, 115.0]


def test_metrics_match_by_substring() -> None:
    metrics = FakeMetrics.matching({"errors": lambda at: [({"a": "b"}, at)] if at != 30 else []})
    (series,) = metrics.range("sum(errors)", 0, 45, 15)
    assert series == ({"a": "b"}, [(0, 0), (15, 15), (45, 45)])
    assert metrics.instant("errors", 7) == [({"a": "b"}, [(7, 7)])]
    assert metrics.instant("other", 7) == []
    metrics.down = True
    with pytest.raises(MetricsError) as caught:
        metrics.instant("errors", 7)
    assert not caught.value.evaluation
