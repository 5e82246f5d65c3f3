"""The real manager of Chaos Mesh in a lab: admission, selection, and name resolution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scenario_kit.changes.chaos import select
from scenario_kit.clients import KubeCluster
from scenario_kit.errors import Rejected
from scenario_kit.lab.clock import close_world, open_world
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.model import App, Object, Reference
from scenario_kit.ports import Clock
from tests.lab.server.workloads import workload

#: The name of the lab that the fixture ``lab`` starts.
LAB = "chaos-test"
pytestmark = [pytest.mark.lab, pytest.mark.timeout(1800)]

NS = "selected"


@pytest.fixture(scope="module")
def clock(lab: LabState, lab_cluster: KubeCluster, app: App) -> Iterator[Clock]:
    spec = WorldSpec(trial=NS, namespace=NS, app=app, seed=1, mode="Virtual")
    clock = open_world(lab.server_url, lab.server_token, spec)
    lab_cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NS}})
    for name in ("web", "cart"):
        for obj in workload(NS, name):
            if name == "cart" and obj["kind"] == "Deployment":
                obj["spec"]["template"]["metadata"]["annotations"] = {"experiment": "allowed"}
            lab_cluster.create(obj)
    clock.wait(clock.now() + 30)
    yield clock
    lab_cluster.delete(Reference("Namespace", NS))
    close_world(lab.server_url, lab.server_token, NS)


def loss(name: str, selector: Object, **more: Any) -> Object:
    spec = {"action": "loss", "mode": "all", "selector": selector, "loss": {"loss": "10"}, "direction": "to", **more}
    metadata = {"name": name, "namespace": NS}
    return {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "NetworkChaos", "metadata": metadata, "spec": spec}


def expression(operator: str, *values: str) -> Object:
    more = {"values": list(values)} if values else {}
    return {"expressionSelectors": [{"key": "app", "operator": operator, **more}]}


SELECTORS: list[Object] = [
    {},
    {"namespaces": [NS]},
    {"labelSelectors": {"app": "cart"}},
    expression("In", "cart", "other"),
    expression("NotIn", "cart"),
    expression("Exists"),
    expression("DoesNotExist"),
    {"annotationSelectors": {"experiment": "allowed"}},
    {"annotationSelectors": {"experiment": "refused"}},
    {"podPhaseSelectors": ["Running"]},
    {"podPhaseSelectors": ["!Running"]},
    {"fieldSelectors": {"spec.nodeName": "worker-1"}},
    {"fieldSelectors": {"status.phase": "Running", "spec.serviceAccountName": "default"}},
    {"nodes": ["worker-2"]},
    {"nodeSelectors": {"kubernetes.io/hostname": "worker-3"}},
    {"nodes": ["worker-1"], "nodeSelectors": {"kubernetes.io/hostname": "worker-3"}},
    {"nodeSelectors": {"zone": "nowhere"}, "labelSelectors": {"app": "cart"}},
]


def test_selection_matches_the_chaos_manager(lab_cluster: KubeCluster, clock: Clock) -> None:
    for number, selector in enumerate(SELECTORS):
        lab_cluster.create(loss(f"s{number}", selector))
    clock.wait(clock.now() + 15)

    for number, selector in enumerate(SELECTORS):
        live = lab_cluster.get(Reference("NetworkChaos", f"s{number}", NS, "chaos-mesh.org"))
        assert live is not None
        records = ((live.get("status") or {}).get("experiment") or {}).get("containerRecords") or []
        ours = {f"{NS}/{pod['metadata']['name']}" for pod in select(lab_cluster, selector, NS)}
        assert {record["id"] for record in records} == ours, selector
    for number in range(len(SELECTORS)):
        lab_cluster.delete(Reference("NetworkChaos", f"s{number}", NS, "chaos-mesh.org"))
    clock.wait(clock.now() + 15)


def test_missing_named_pod_is_skipped(lab_cluster: KubeCluster, clock: Clock) -> None:
    (name, *_) = (pod["metadata"]["name"] for pod in lab_cluster.list("Pod", NS))
    selector = {"pods": {NS: [name, "ghost"]}, "labelSelectors": {"app": "nobody"}}
    lab_cluster.create(loss("named", selector))
    clock.wait(clock.now() + 15)

    live = lab_cluster.get(Reference("NetworkChaos", "named", NS, "chaos-mesh.org"))
    assert live is not None
    records = live["status"]["experiment"]["containerRecords"]
    assert [record["id"] for record in records] == [
        f"{NS}/{pod['metadata']['name']}" for pod in select(lab_cluster, selector, NS)
    ]
    lab_cluster.delete(Reference("NetworkChaos", "named", NS, "chaos-mesh.org"))


def test_chaos_defaults_are_filled_in(lab_cluster: KubeCluster, clock: Clock) -> None:
    delay = {**loss("late", {"labelSelectors": {"app": "cart"}}, action="delay", delay={"latency": "2000ms"})}
    del delay["spec"]["loss"]
    del delay["spec"]["direction"]
    lab_cluster.create(delay)

    live = lab_cluster.get(Reference("NetworkChaos", "late", NS, "chaos-mesh.org"))
    assert live is not None
    assert live["spec"]["delay"] == {"latency": "2000ms", "jitter": "0ms", "correlation": "0"}
    assert (live["spec"]["direction"], live["spec"]["selector"]["namespaces"]) == ("to", [NS])
    lab_cluster.delete(Reference("NetworkChaos", "late", NS, "chaos-mesh.org"))


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("NetworkChaos", {"action": "delay", "delay": {"latency": "1s"}, "direction": "from"}, "spec.direction"),
        (
            "NetworkChaos",
            {"action": "bandwidth", "bandwidth": {"rate": "1", "limit": 1, "buffer": 1}},
            "spec.tcparameter.bandwidth.rate",
        ),
        ("PodChaos", {"action": "container-kill"}, "spec.containerNames"),
        ("StressChaos", {}, "spec"),
        (
            "StressChaos",
            {"stressors": {"memory": {"workers": 1, "size": "lots"}}},
            "spec.stressors.memorystressor.size",
        ),
        ("HTTPChaos", {"target": "Request", "port": 0}, "spec.port"),
        ("IOChaos", {"action": "fault", "volumePath": "/data", "errno": 0}, "spec"),
        ("TimeChaos", {"timeOffset": "tomorrow"}, "spec.timeOffset"),
        ("JVMChaos", {"action": "exception", "class": "a.B", "method": "c"}, "spec"),
        (
            "Schedule",
            {"schedule": "now and then", "type": "PodChaos", "podChaos": {"action": "pod-kill"}},
            "spec.schedule",
        ),
    ],
)
def test_chaos_mesh_webhook_rejects_invalid_specs(
    lab_cluster: KubeCluster, clock: Clock, kind: str, spec: Object, field: str
) -> None:
    recipient = {"mode": "all", "selector": {"labelSelectors": {"app": "cart"}}}
    inner = {**spec, "podChaos": {**spec["podChaos"], **recipient}} if kind == "Schedule" else {**recipient, **spec}
    obj = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": kind, "metadata": {"name": "x", "namespace": NS}}
    with pytest.raises(Rejected, match=f"(?i){field}"):  # Chaos Mesh spells fields as its Go code does
        lab_cluster.create({**obj, "spec": inner})


def test_external_target_is_resolved_by_cluster_dns(lab_cluster: KubeCluster, clock: Clock) -> None:
    service = lab_cluster.get(Reference("Service", "cart", NS))
    assert service is not None
    lab_cluster.create(loss("named-target", {"labelSelectors": {"app": "web"}}, externalTargets=[f"cart.{NS}"]))
    live = lab_cluster.get(Reference("NetworkChaos", "named-target", NS, "chaos-mesh.org"))
    assert live is not None
    assert live["spec"]["externalTargets"] == [service["spec"]["clusterIP"]]
    lab_cluster.delete(Reference("NetworkChaos", "named-target", NS, "chaos-mesh.org"))
    with pytest.raises(Rejected, match="no such host"):
        lab_cluster.create(loss("lost", {"labelSelectors": {"app": "web"}}, externalTargets=["redis-master.default"]))


def build_schedule(name: str, seconds: int, lasting: int) -> Object:
    inner = loss(name, {"labelSelectors": {"app": "cart"}}, duration=f"{lasting}s")["spec"]
    return {
        "apiVersion": "chaos-mesh.org/v1alpha1",
        "kind": "Schedule",
        "metadata": {"name": name, "namespace": NS},
        "spec": {
            "schedule": f"@every {seconds}s",
            "type": "NetworkChaos",
            "concurrencyPolicy": "Forbid",
            "historyLimit": 1,
            "networkChaos": inner,
        },
    }


def list_started(cluster: KubeCluster) -> dict[str, str]:
    """Experiments by name, with the phase of their records."""
    found = {}
    for obj in cluster.list("NetworkChaos", NS):
        records = ((obj.get("status") or {}).get("experiment") or {}).get("containerRecords") or [{}]
        found[str(obj["metadata"]["name"])] = str(records[0].get("phase"))
    return found


def test_schedule_follows_virtual_time(lab_cluster: KubeCluster, clock: Clock) -> None:
    """Its manager starts and ends experiments, every ten virtual minutes for five, in a few seconds."""
    ref = Reference("Schedule", "often", NS, "chaos-mesh.org")
    lab_cluster.create(build_schedule("often", 600, 300))
    clock.wait(clock.now() + 15)
    begin = clock.now() - 15
    seen = []
    for at in (600, 615, 885, 915, 1200, 1215, 1500, 1515):
        clock.wait(begin + at)
        seen.append((at, [*list_started(lab_cluster).values()]))
    assert seen == [
        (600, []), (615, ["Injected"]), (885, ["Injected"]), (915, ["Not Injected"]), (1200, ["Not Injected"]),
        (1215, ["Injected"]), (1500, ["Injected"]), (1515, ["Not Injected"]),
    ]  # fmt: skip

    live = lab_cluster.get(ref)
    assert live is not None
    (name,) = list_started(lab_cluster)
    child = lab_cluster.get(Reference("NetworkChaos", name, NS, "chaos-mesh.org"))
    assert child is not None
    assert [each["name"] for each in live["status"]["active"]] == [name]
    assert child["metadata"]["labels"] == {"managed-by": "often"}
    assert child["metadata"]["ownerReferences"][0] | {} == {
        "apiVersion": "chaos-mesh.org/v1alpha1", "kind": "Schedule", "name": "often", "controller": True,
        "blockOwnerDeletion": True, "uid": live["metadata"]["uid"],
    }  # fmt: skip
    assert child["spec"]["duration"] == "300s"

    pause = {"metadata": {"annotations": {"experiment.chaos-mesh.org/pause": "true"}}}
    lab_cluster.patch(ref, pause)
    clock.wait(begin + 2400)
    assert list_started(lab_cluster) == {name: "Not Injected"}
    lab_cluster.patch(ref, {"metadata": {"annotations": {"experiment.chaos-mesh.org/pause": None}}})
    clock.wait(begin + 2430)
    assert [*list_started(lab_cluster).values()] == ["Injected"], "one start is made up for"

    lab_cluster.delete(ref)
    clock.wait(begin + 2445)
    assert list_started(lab_cluster) == {}
    clock.wait(begin + 3600)
    assert list_started(lab_cluster) == {}
