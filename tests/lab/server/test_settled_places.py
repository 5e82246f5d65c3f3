"""Pending work of the scheduler and the volume binder that no status shows."""

import copy

import pytest

from scenario_kit.lab.settle.checks import list_unsettled, pending_scheduling
from tests.lab.server.cluster_objects import by_kind, facts, meta, namespace, pod, world

REFUSED = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "3"}
TAINT = {"key": "pool", "value": "gpu", "effect": "NoSchedule"}


def node(name="n1", *, labels=None, allocatable=None, **spec):
    room = {**ROOM, **(allocatable or {})}
    return {
        "kind": "Node", "metadata": {"name": name, "labels": labels or {}}, "spec": spec,
        "status": {"allocatable": room},
    }  # fmt: skip


def build_waiting_pod(cpu="500m", **spec):
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    return {
        "kind": "Pod", "metadata": meta("new"), "spec": {"containers": [container], **spec}, "status": REFUSED,
    }  # fmt: skip


def build_running_pod(cpu, on="n1", **status):
    found = pod(f"old-{cpu}")
    found["spec"] = {"nodeName": on, "containers": [{"name": "c", "resources": {"limits": {"cpu": cpu}}}]}
    found["status"] |= status
    return found


def claim(**more):
    spec = {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}},
        **more,
    }  # fmt: skip
    return {"kind": "PersistentVolumeClaim", "metadata": meta("data"), "spec": spec, "status": {"phase": "Pending"}}


def volume(phase="Available", **more):
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "capacity": {"storage": "2Gi"}, **more}
    return {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec, "status": {"phase": phase}}


def list_pending(*objects, nodes=(), volumes=(), pods=()):
    cluster = pending_scheduling.ClusterCapacity(
        {n["metadata"]["name"]: n for n in nodes}, {v["metadata"]["name"]: v for v in volumes}, lambda: pods
    )
    return [f"{d.kind}/{d.name}: {d.text}" for d in pending_scheduling.list_due(by_kind(*objects), cluster)]


@pytest.mark.parametrize(
    ("asks", "where", "others"),
    [
        (build_waiting_pod(), node(), []),
        (build_waiting_pod("4"), node(), []),
        (build_waiting_pod("2"), node(), [build_running_pod("2")]),
        (build_waiting_pod("3"), node(), [build_running_pod("4", phase="Succeeded")]),
        (build_waiting_pod("3"), node(), [build_running_pod("4", on="n2")]),
        (build_waiting_pod(nodeSelector={"disk": "ssd"}), node(labels={"disk": "ssd"}), []),
        (build_waiting_pod(tolerations=[{"key": "pool", "operator": "Exists"}]), node(taints=[TAINT]), []),
        (
            build_waiting_pod(tolerations=[{"key": "pool", "value": "gpu", "effect": "NoSchedule"}]),
            node(taints=[TAINT]),
            [],
        ),
        (build_waiting_pod(tolerations=[{"operator": "Exists"}]), node(taints=[TAINT]), []),
        (build_waiting_pod(), node(taints=[{**TAINT, "effect": "PreferNoSchedule"}]), []),
        (build_waiting_pod(topologySpreadConstraints=[{"whenUnsatisfiable": "ScheduleAnyway"}]), node(), []),
    ],
)
def test_pod_with_available_capacity_is_pending_work(asks, where, others):
    assert list_pending(asks, nodes=[where], pods=others) == ["Pod/new: there is room on node n1"]


@pytest.mark.parametrize(
    ("asks", "where", "others"),
    [
        (build_waiting_pod("5"), node(), []),
        (build_waiting_pod("3"), node(), [build_running_pod("2")]),
        (build_waiting_pod(), node(allocatable={"pods": "1"}), [build_running_pod("1m")]),
        (build_waiting_pod(nodeSelector={"disk": "ssd"}), node(labels={"disk": "hdd"}), []),
        (build_waiting_pod(), node(taints=[TAINT]), []),
        (build_waiting_pod(tolerations=[{"key": "pool", "value": "cpu"}]), node(taints=[TAINT]), []),
        (build_waiting_pod(), node(unschedulable=True), []),
        (build_waiting_pod(affinity={"podAntiAffinity": {}}), node(), []),
        (build_waiting_pod(topologySpreadConstraints=[{"whenUnsatisfiable": "DoNotSchedule"}]), node(), []),
        (build_waiting_pod(schedulerName="another"), node(), []),
        (build_waiting_pod(schedulingGates=[{"name": "later"}]), node(), []),
        (build_waiting_pod(volumes=[{"persistentVolumeClaim": {"claimName": "absent"}}]), node(), []),
        ({**build_waiting_pod(), "status": {}}, node(), []),
        (build_waiting_pod(nodeName="n1"), node(), []),
    ],
)
def test_unschedulable_pod_is_no_pending_work(asks, where, others):
    assert list_pending(asks, nodes=[where], pods=others) == []


@pytest.mark.parametrize(
    ("asks", "offers", "bound"),
    [
        (claim(), volume(), True),
        (claim(), volume("", claimRef={"namespace": "shop", "name": "data"}), True),
        (claim(volumeName="pv"), volume(), True),
        (claim(), volume("Bound", claimRef={"namespace": "shop", "name": "data", "uid": "uid-data"}), True),
        (claim(), volume("Released", claimRef={"namespace": "shop", "name": "data", "uid": "another"}), False),
        (claim(), volume("Bound", claimRef={"namespace": "shop", "name": "other"}), False),
        (claim(), volume("Released"), False),
        (claim(storageClassName="slow"), volume(), False),
        (claim(accessModes=["ReadWriteMany"]), volume(), False),
        (claim(resources={"requests": {"storage": "3Gi"}}), volume(), False),
        (claim(volumeMode="Block"), volume(), False),
        (claim(volumeName="another"), volume(), False),
        (claim(selector={"matchLabels": {"a": "b"}}), volume(), False),
    ],
)
def test_claim_with_matching_volume_is_pending_work(asks, offers, bound):
    found = list_pending(asks, volumes=[offers])
    assert found == (["PersistentVolumeClaim/data: will be bound to volume pv"] if bound else [])


def test_pod_with_unbound_claim_is_no_pending_work():
    asks = build_waiting_pod(volumes=[{"persistentVolumeClaim": {"claimName": "data"}}])
    held = claim(volumeName="pv")
    assert list_pending(asks, held, nodes=[node()], volumes=[volume()]) == [
        "PersistentVolumeClaim/data: will be bound to volume pv"
    ]
    bound = {**held, "status": {"phase": "Bound"}}
    assert list_pending(asks, bound, nodes=[node()], volumes=[volume("Bound")]) == ["Pod/new: there is room on node n1"]
    local = volume("Bound", nodeAffinity={"required": {}})
    assert list_pending(asks, bound, nodes=[node()], volumes=[local]) == []


def test_pending_scheduling_is_unsettled():
    kinds = world()
    kinds["Pod"]["new"] = build_waiting_pod()
    cluster = pending_scheduling.ClusterCapacity({"n1": node()}, {}, lambda: copy.deepcopy(list(kinds["Pod"].values())))
    reasons = list_unsettled(facts(kinds, due=list(pending_scheduling.list_due(kinds, cluster))))
    assert [str(r) for r in reasons] == ["Pod/new: there is room on node n1"]
    assert list_unsettled(facts(kinds)) == []
    assert namespace()["kind"] == "Namespace"
