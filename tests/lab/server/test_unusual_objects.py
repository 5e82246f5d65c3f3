"""Readers of objects tolerate everything that an API server accepts."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.clients import KubeCluster
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.kubelet.image.images import ImageCache
from scenario_kit.lab.kubelet.status import SyncInputs, compute_pod_status
from scenario_kit.lab.settle.checks import Facts, list_unsettled, pending_scheduling
from scenario_kit.lab.settle.hpa_pacing import MetricsGate
from scenario_kit.lab.telemetry.kube_state import KubeState
from scenario_kit.lab.twin.cluster.network_policy import is_inside
from scenario_kit.lab.twin.network.endpoints import Network
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.model import Object, Reference
from tests.lab.kubelet.conftest import NODE, T0, Objects, Scripted
from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster

FOLDER = Path(__file__).parents[2] / "fixtures" / "unusual"
OBJECTS: list[Object] = list(yaml.safe_load_all((FOLDER / "objects.yaml").read_text()))
PODS: dict[str, Object] = yaml.safe_load((FOLDER / "pods.yaml").read_text())
NAMESPACE = "shop"


def pod(name: str, **status: Any) -> Object:
    metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", "resourceVersion": "7", "generation": 1}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {"nodeName": "node-0", **copy.deepcopy(PODS[name])}, "status": status or {"phase": "Pending"},
    }  # fmt: skip


def build_stored(obj: Object) -> Object:
    """Return an object as stored, without the API server's defaults."""
    metadata = {"namespace": NAMESPACE, "uid": f"uid-{obj['metadata']['name']}", "resourceVersion": "7"}
    return {**copy.deepcopy(obj), "metadata": {**metadata, **obj["metadata"]}}


def run(one: Object) -> Object:
    """Run the kubelet on a pod for half an hour."""
    memory, processes, images = None, Scripted(), ImageCache()
    for seconds in (0.0, 1.0, 30.0, 300.0, 1800.0):
        made = compute_pod_status(
            one,
            SyncInputs(NODE, Objects(), processes, images.of("app")),
            T0 + seconds,
            ip="10.244.0.7",
            memory=memory,
        )
        one, memory = {**one, "status": made.status}, made.memory
    return one


def judge(*objects: Object) -> list[Any]:
    kinds: dict[str, dict[str, Object]] = {}
    store = ObjectStore()
    for obj in objects:
        kinds.setdefault(obj["kind"], {})[obj["metadata"]["name"]] = obj
        store.put(obj["kind"], obj)
    looks = MetricsGate(store, lambda _: 0.0)
    looks.list_unfinished(NAMESPACE)
    list(
        pending_scheduling.list_due(
            kinds, pending_scheduling.ClusterCapacity({"node-0": NODE}, {}, lambda: kinds.get("Pod", {}).values())
        )
    )
    home = {"kind": "Namespace", "metadata": {"name": NAMESPACE, "resourceVersion": "1"}}
    return list_unsettled(Facts(namespace=home, kinds=kinds))


@pytest.fixture(scope="module")
def build_cluster() -> TwinCluster:
    return TwinCluster(tiny.app(), tiny.objects())


def flow(build_cluster: TwinCluster, *objects: Object) -> None:
    before = {kind: dict(names) for kind, names in build_cluster.kinds.items()}
    try:
        for obj in objects:
            build_cluster.put(obj)
        build_cluster.version += 1
        net = Network(build_cluster.view(), ProcessTable(tiny.DEFINITION))
        pods = list(build_cluster.kinds["Pod"].values())
        for source in pods:
            for name in build_cluster.kinds["Service"]:
                for found in net.lookup(source, name, 80).destinations:
                    assert net.pod_at(found.ip) is None or net.wire(source, net.pod_at(found.ip) or {}, found.port)
            for target in pods:
                net.wire(source, target, 80)
        build_cluster.run(30)
    finally:
        build_cluster.kinds = before
        build_cluster.version += 1


@pytest.mark.parametrize("obj", OBJECTS, ids=lambda o: o["metadata"]["name"])
def test_object_stops_no_reader(build_cluster: TwinCluster, obj: Object) -> None:
    obj = build_stored(obj)
    judge(obj)
    KubeState().collect({obj["kind"]: {obj["metadata"]["name"]: obj}})
    flow(build_cluster, obj)


@pytest.mark.parametrize("name", PODS)
def test_pod_stops_no_reader(build_cluster: TwinCluster, name: str) -> None:
    one = run(pod(name))
    judge(one)
    KubeState().collect({"Pod": {name: one}})
    flow(build_cluster, one)


#: What others may have written into the status of a pod, through the API.
STATUSES: dict[str, Object] = yaml.safe_load((FOLDER / "statuses.yaml").read_text())


@pytest.mark.parametrize("what", STATUSES)
def test_status_stops_no_reader(build_cluster: TwinCluster, what: str) -> None:
    one = pod("bare")
    one["status"] = copy.deepcopy(STATUSES[what])
    judge(one)
    KubeState().collect({"Pod": {"bare": one}})
    flow(build_cluster, one)
    run(one)


@pytest.mark.lab
@pytest.mark.parametrize("obj", OBJECTS, ids=lambda o: o["metadata"]["name"])
def test_api_server_accepts_unusual_object(kube: KubeCluster, kube_namespace: str, obj: Object) -> None:
    kube.create({**obj, "metadata": {**obj["metadata"], "namespace": kube_namespace}})


@pytest.fixture
def account(kube: KubeCluster, kube_namespace: str) -> str:
    metadata = {"name": "default", "namespace": kube_namespace}
    kube.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    return kube_namespace


@pytest.mark.lab
@pytest.mark.parametrize("name", PODS)
def test_api_server_accepts_unusual_pod(kube: KubeCluster, account: str, name: str) -> None:
    metadata = {"name": name, "namespace": account}
    kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": PODS[name]})


@pytest.mark.lab
@pytest.mark.parametrize("what", STATUSES)
def test_api_server_accepts_unusual_status(kube: KubeCluster, account: str, what: str) -> None:
    metadata = {"name": "bare", "namespace": account}
    kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**PODS["bare"], "nodeName": "n"}})
    kube.patch(Reference("Pod", "bare", account), {"status": STATUSES[what]}, subresource="status")


@pytest.mark.parametrize(
    ("ip", "block", "expected"),
    [
        ("10.1.1.1", "010.0.0.1/8", True),
        ("010.1.1.1", "10.0.0.0/8", True),
        ("10.1.1.1", "00.0.0.0/0", True),
        ("11.1.1.1", "010.0.0.1/8", False),
        ("10.1.1.1", "fd00::/8", False),
        ("fd00::1", "fd00::/8", True),
    ],
)
def test_addresses_in_an_old_spelling(ip: str, block: str, expected: bool) -> None:
    assert is_inside(ip, (block,)) is expected
