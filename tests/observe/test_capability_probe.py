"""Canaries, against an API server in memory."""

from __future__ import annotations

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.errors import Unreachable
from scenario_kit.model import Object
from scenario_kit.observe.capability_probe import has_capability
from scenario_kit.testing import FakeCluster

KNOWN = list_capabilities(Catalog())


def node(name: str, *, runtime: str = "containerd://2.1.4", cordoned: bool = False, control: bool = False) -> Object:
    labels = {"node-role.kubernetes.io/control-plane": "true"} if control else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {"nodeInfo": {"containerRuntimeVersion": runtime}},
    }


def workload(kind: str, name: str, namespace: str, **status: int) -> Object:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def plain(api: str, kind: str, name: str, namespace: str = "", **fields: object) -> Object:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


TIDB = {
    "group": "pingcap.com",
    "names": {"kind": "Tidb", "plural": "tidbs"},
    "scope": "Namespaced",
    "versions": [{"name": "v1", "served": True}],
}
DAEMON = workload("DaemonSet", "chaos-daemon", "chaos-mesh", numberAvailable=2)
MANAGER = workload("Deployment", "chaos-controller-manager", "chaos-mesh", availableReplicas=1)


@pytest.mark.parametrize(
    ("need", "objects", "there"),
    [
        pytest.param("real-nodes", [node("a")], True, id="containers run"),
        pytest.param("real-nodes", [node("a", runtime="")], False, id="simulated nodes"),
        pytest.param("nodes>=2", [node("a"), node("b")], True, id="two nodes"),
        pytest.param("nodes>=2", [node("a"), node("b", cordoned=True)], False, id="one is cordoned"),
        pytest.param("nodes>=2", [node("a"), node("b", control=True)], False, id="one is a control plane"),
        pytest.param(
            "cni-network-policy", [workload("DaemonSet", "cilium", "kube-system", numberAvailable=1)], True, id="Cilium"
        ),
        pytest.param(
            "cni-network-policy",
            [workload("DaemonSet", "kube-flannel-ds", "kube-flannel", numberAvailable=1)],
            False,
            id="Flannel",
        ),
        pytest.param("chaos-mesh", [MANAGER], True, id="manager"),
        pytest.param(
            "chaos-mesh", [{**MANAGER, "status": {"availableReplicas": 0}}], False, id="manager that does not run"
        ),
        pytest.param("netem", [DAEMON], True, id="daemon"),
        pytest.param("netem", [], False, id="no daemon"),
        pytest.param(
            "dynamic-storage",
            [plain("storage.k8s.io/v1", "StorageClass", "local", provisioner="rancher.io/local-path")],
            True,
            id="provisioner",
        ),
        pytest.param(
            "dynamic-storage",
            [plain("storage.k8s.io/v1", "StorageClass", "local", provisioner="kubernetes.io/no-provisioner")],
            False,
            id="no provisioner",
        ),
        pytest.param("metrics-server", [], False, id="a kind that is not served"),
        pytest.param("mesh", [], False, id="a group that is not served"),
        pytest.param(
            "control-plane-pods", [plain("v1", "Pod", "kube-apiserver-a", "kube-system", spec={})], True, id="kubeadm"
        ),
        pytest.param(
            "control-plane-pods", [plain("v1", "Pod", "kube-apiserver-a", "shop", spec={})], False, id="elsewhere"
        ),
        pytest.param(
            "operator:tidbs.pingcap.com",
            [plain("apiextensions.k8s.io/v1", "CustomResourceDefinition", "tidbs.pingcap.com", spec=TIDB)],
            True,
            id="an operator",
        ),
        pytest.param("node-access", [node("a")], False, id="what no canary can see"),
    ],
)
def test_canary_detects_its_capability(need: str, objects: list[Object], there: bool) -> None:
    capability, argument = next((c, a) for c in KNOWN if (a := c.argument(need)) is not None)

    assert has_capability(capability.canary, argument, FakeCluster(objects)) is there


def test_silent_api_server_leaves_capabilities_unknown() -> None:
    cluster = FakeCluster()

    def down(verb: str, what: str) -> None:
        raise Unreachable("no answer")

    cluster.before = down
    capability = next(c for c in KNOWN if c.name == "netem")
    with pytest.raises(Unreachable):
        has_capability(capability.canary, "", cluster)
