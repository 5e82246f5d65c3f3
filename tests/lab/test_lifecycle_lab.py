"""A real lab, from nothing to nothing: start, look, break, repair, a second one beside it, empty it, end."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from operators.scenario.lab_platform import Lab
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import ClusterError, Forbidden, LabError, UsageError
from scenario_kit.judge.platform import PlatformNeeds
from scenario_kit.lab import chaos_manager, lifecycle
from scenario_kit.lab.host import procfs
from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.state import LabState, find_lab_folder
from scenario_kit.lab.telemetry.prometheus_access import locate_prometheus_tls
from scenario_kit.model import Reference
from tests.lab.sockets import list_listeners

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabState]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCENARIO_KIT_HOME", str(tmp_path_factory.mktemp("labs")))
        try:
            yield lifecycle.bring_up("first")
        finally:
            lifecycle.take_down("first")


def ask_prometheus(state: LabState, path: str, **query: str) -> Any:
    tls = locate_prometheus_tls(Path(state.folder) / "prometheus").build_client_context()
    with httpx.Client(verify=tls, trust_env=False) as client:
        return client.get(f"{state.prometheus_url}/api/v1/{path}", params=query).json()["data"]


def test_lab_up_is_idempotent(lab: LabState) -> None:
    assert {r.name: r.health for r in lifecycle.report_status(lab)} == {p.name: "" for p in lab.parts}
    assert lifecycle.bring_up("first") == lab


def test_only_the_chaos_daemon_listens_beyond_loopback(lab: LabState) -> None:
    assert lab.chaos_daemon is not None
    beyond = {
        a for a in list_listeners(set(procfs.find(procfs.make_marker(lab.folder)))) if not a[0].startswith("127.")
    }
    assert beyond <= {(lab.chaos_daemon.address, lab.chaos_daemon.port)}


def test_nodes_are_ready_and_written_by_a_kubelet(lab: LabState) -> None:
    found = KubeCluster(kubeconfig=Path(lab.kubeconfig)).list("Node")
    assert {n["metadata"]["name"] for n in found} == set(lab.nodes)
    for node in found:
        conditions = {c["type"]: c["status"] for c in node["status"]["conditions"]}
        assert conditions["Ready"] == "True"
        assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.34.2"
        assert "kwok" not in json.dumps(node).lower()


def test_solver_sees_the_cluster_but_not_us(lab: LabState) -> None:
    solver = KubeCluster(kubeconfig=Path(lab.solver_kubeconfig))
    assert solver.namespace == "otel-demo"
    assert len(solver.list("Node")) == 3
    for kind, namespace in (("Pod", "scenario-kit"), ("EndpointSlice", "chaos-mesh"), ("Secret", "kube-system")):
        with pytest.raises(Forbidden):
            solver.list(kind, namespace)
    for kind, group in (("PodChaos", "chaos-mesh.org"), ("Stage", "kwok.x-k8s.io")):
        with pytest.raises(Forbidden):
            solver.list(kind, "", group=group)


def test_bound_solver_can_change_the_app(lab: LabState) -> None:
    admin = KubeCluster(kubeconfig=Path(lab.kubeconfig))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "otel-demo"}}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "oncall", "namespace": "otel-demo"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "oncall"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "oncall"}],
    }
    admin.apply(namespace)
    admin.apply(binding)
    solver = KubeCluster(kubeconfig=Path(lab.solver_kubeconfig))
    meta = {"name": "mine", "namespace": "otel-demo"}
    solver.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": "b"}})
    solver.delete(Reference("ConfigMap", "mine", "otel-demo"))
    with pytest.raises(Forbidden):
        solver.list("NetworkChaos", "otel-demo", group="chaos-mesh.org")
    admin.delete(Reference("Namespace", "otel-demo", ""))


def test_prometheus_has_rules_and_accepts_past_samples(lab: LabState) -> None:
    rules = ask_prometheus(lab, "rules")["groups"]
    assert "HighRequestErrorRate" in {rule["name"] for group in rules for rule in group["rules"]}
    status = ask_prometheus(lab, "status/config")["yaml"]
    assert "out_of_order_time_window: 30d" in status
    assert lab.server_token not in status


def test_dead_parts_are_reported_with_their_log_and_repaired(lab: LabState) -> None:
    killed = {name: lab.part(name).pid for name in ("chaos-controller-manager", "kube-scheduler", "prometheus")}
    for pid in killed.values():
        os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:  # kwokctl started it
            while lab.alive(next(p for p in lab.parts if p.pid == pid)):
                pass
    reports = {r.name: r for r in lifecycle.report_status(lab)}
    assert {name for name, r in reports.items() if not r.alive} == set(killed)
    assert "workers" in reports["chaos-controller-manager"].tail
    with pytest.raises(LabError, match=r"(?s)while looking.*kube-scheduler \(pid \d+\) is gone"):
        lab.require_alive("looking")
    repaired = lifecycle.bring_up("first")
    assert {r.name: r.health for r in lifecycle.report_status(repaired)} == {p.name: "" for p in repaired.parts}
    assert {p.name for p, q in zip(lab.parts, repaired.parts, strict=True) if p.pid != q.pid} == set(killed)
    assert [p.port for p in repaired.parts] == [p.port for p in lab.parts]


def test_api_server_restarts_with_its_etcd(lab: LabState) -> None:
    before = LabState.load("first")
    store = before.part("etcd")
    os.kill(store.pid, signal.SIGKILL)
    while before.alive(store):
        pass
    repaired = lifecycle.bring_up("first")
    assert {r.name: r.health for r in lifecycle.report_status(repaired)} == {p.name: "" for p in repaired.parts}
    changed = {p.name for p, q in zip(before.parts, repaired.parts, strict=True) if p.pid != q.pid}
    assert {"etcd", "kube-apiserver"} <= changed


def _answers(port: int) -> bool:
    """Return whether a process listens on the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def _check_engine_missing(state: LabState) -> None:
    (engine,) = [r for r in lifecycle.report_status(state) if not r.started]
    assert (engine.name, engine.alive, engine.health) == (chaos_manager.PART, False, "")
    needs = PlatformNeeds(chaos=True)
    assert Lab(state.name).health(needs) == Lab(state.name).diagnose(needs) != []
    assert list(Lab(state.name).health(PlatformNeeds(chaos=False))) == []
    spec = {"action": "pod-kill", "mode": "one", "selector": {"namespaces": ["default"]}}
    chaos = {
        "apiVersion": "chaos-mesh.org/v1alpha1",
        "kind": "PodChaos",
        "metadata": {"name": "a", "namespace": "default"},
    }
    with pytest.raises(ClusterError, match="chaos-mesh"):
        KubeCluster(kubeconfig=Path(state.kubeconfig)).create({**chaos, "spec": spec})
    assert lifecycle.reset(state.name).list_started() == [r.name for r in lifecycle.report_status(state) if r.started]


def test_second_lab_runs_in_parallel_and_leaves_nothing(lab: LabState) -> None:
    second = lifecycle.bring_up("second", node_count=10, engine=False)
    try:
        _check_engine_missing(second)
        second = lifecycle.bring_up("second")
        assert len(KubeCluster(kubeconfig=Path(second.kubeconfig)).list("Node")) == 10
        with pytest.raises(UsageError, match="runs with 10 nodes, observed --nodes 4"):
            lifecycle.bring_up("second", node_count=4)
        works = {
            r.name for state in (LabState.load("first"), second) for r in lifecycle.report_status(state) if not r.health
        }
        assert works == {p.name for p in second.parts}
        assert not set(second.ports.values()) & set(lab.ports.values())
    finally:
        assert lifecycle.take_down("second")
    assert list(procfs.find(procfs.make_marker(second.folder))) == []
    assert not find_lab_folder("second").exists()
    assert [port for port in second.ports.values() if _answers(port)] == []
    assert {r.health for r in lifecycle.report_status(LabState.load("first"))} == {""}
    assert not lifecycle.take_down("second")


def test_taking_down_half_started_lab_removes_processes_and_files(lab: LabState) -> None:
    half = find_lab_folder("half")
    half.mkdir(parents=True)
    (half / "lab.json").write_text("{")
    mark = procfs.make_marker(str(half))
    left = subprocess.Popen(["sleep", "600"], env={**os.environ, **mark})
    assert list(procfs.find(mark)) == [left.pid]
    assert lifecycle.take_down("half")
    assert list(procfs.find(mark)) == []
    assert not half.exists()
    left.wait(10)


def create_incident(admin: KubeCluster) -> None:
    """What incidents leave behind: an app, a changed node, something of the cluster deleted, objects that never go."""
    meta = {"name": "app", "namespace": "shop"}
    labels = {"app": "app"}
    container = {"name": "app", "image": "registry.k8s.io/pause:3.10"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    admin.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    admin.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec})
    service = {
        "selector": labels,
        "clusterIP": "10.96.7.7",
        "type": "NodePort",
        "ports": [{"port": 80, "nodePort": 30080}],
    }
    admin.apply({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": service})
    stuck = {**meta, "finalizers": ["example.org/never"]}
    admin.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": stuck, "data": {}})
    wait_for(lambda: len([p for p in admin.list("Pod", "shop") if p["status"].get("phase") == "Running"]) == 3)
    admin.delete(Reference("ConfigMap", "app", "shop"))
    admin.patch(Reference("Node", "worker-2"), {"spec": {"unschedulable": True}, "metadata": {"labels": {"x": "y"}}})
    admin.delete(Reference("ClusterRole", "oncall", "", "rbac.authorization.k8s.io"))


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline


def assert_initial_state(state: LabState) -> None:
    assert {r.name: r.health for r in lifecycle.report_status(state)} == {p.name: "" for p in state.parts}
    admin = KubeCluster(kubeconfig=Path(state.kubeconfig))
    assert {n["metadata"]["name"] for n in admin.list("Namespace")} == {
        "default", "kube-system", "kube-public", "kube-node-lease", "scenario-kit", "chaos-mesh",
    }  # fmt: skip
    node = admin.get(Reference("Node", "worker-2"))
    assert node is not None
    assert "unschedulable" not in node["spec"]
    assert "x" not in node["metadata"]["labels"]
    assert admin.get(Reference("ClusterRole", "oncall", "", "rbac.authorization.k8s.io")) is not None
    assert {pod["metadata"]["namespace"] for pod in admin.list("Pod")} == {"chaos-mesh", "kube-system"}
    assert lifecycle.list_worlds(state) == []
    assert ask_prometheus(state, "query", query='count({namespace="shop"})')["result"] == []
    admin.close()


def test_reset_restores_the_state_after_up(lab: LabState) -> None:
    before = LabState.load("first")
    admin = KubeCluster(kubeconfig=Path(lab.kubeconfig))
    for _ in range(2):  # the same names, addresses and ports can be had again
        create_incident(admin)
        state = lifecycle.reset("first")
        assert_initial_state(state)
    assert {p.name for p, q in zip(before.parts, state.parts, strict=True) if p.pid != q.pid} == {
        "prometheus", "lab-server", "operator",
    }  # fmt: skip


def test_interrupted_reset_is_finished_by_up(lab: LabState) -> None:
    admin = KubeCluster(kubeconfig=Path(lab.kubeconfig))
    create_incident(admin)
    state = LabState.load("first")
    msgspec.structs.replace(state, resetting=True).save()
    for name in ("operator", "prometheus"):
        os.kill(state.part(name).pid, signal.SIGKILL)
    state = lifecycle.bring_up("first")
    assert not state.resetting
    assert_initial_state(state)


def test_reset_refuses_while_a_campaign_runs(lab: LabState) -> None:
    admin = KubeCluster(kubeconfig=Path(lab.kubeconfig))
    meta = {"name": "v", "namespace": "scenario-kit"}
    validation = {"apiVersion": "scenariokit.io/v1alpha1", "kind": "Validation", "metadata": meta}
    os.kill(LabState.load("first").part("operator").pid, signal.SIGSTOP)  # it would say at once what is wrong with it
    admin.apply({**validation, "spec": {"scenario": "cart"}})
    with pytest.raises(UsageError, match="validation v"):
        lifecycle.reset("first")
    assert_initial_state(lifecycle.reset("first", force=True))
