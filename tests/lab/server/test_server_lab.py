"""The server in a real lab: real controllers and a real chaos manager settle, time flows, and equal seeds are equal."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from scenario_kit.clients import KubeCluster
from scenario_kit.lab.clock import close_world, open_world
from scenario_kit.lab.control_plane import store_access
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.host.supervisor import locate_pki
from scenario_kit.lab.informers.revisions import WATCHED, Revisions
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.telemetry.prometheus_access import connect_metrics
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.model import App, Object, Reference
from scenario_kit.model.kubernetes.status import read_revision
from scenario_kit.ports import Clock
from tests.lab.server.workloads import workload

#: The name of the lab that the fixture ``lab`` starts.
LAB = "server-test"
pytestmark = [pytest.mark.lab, pytest.mark.timeout(1800)]

CHAOS = Reference("NetworkChaos", "k1", "scenario-kit", "chaos-mesh.org")


Open = Callable[..., Clock]


@pytest.fixture
def open_namespace(lab: LabState, lab_cluster: KubeCluster, app: App) -> Iterator[Open]:
    """Opens the world of a namespace, creates the namespace, and ends both afterwards."""
    namespaces: list[str] = []

    def open_(namespace: str, seed: int = 1) -> Clock:
        spec = WorldSpec(trial=namespace, namespace=namespace, app=app, seed=seed, mode="Virtual")
        clock = open_world(lab.server_url, lab.server_token, spec)
        namespaces.append(namespace)
        lab_cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        return clock

    yield open_
    for namespace in namespaces:
        lab_cluster.delete(Reference("Namespace", namespace))
        close_world(lab.server_url, lab.server_token, namespace)


def ready_addresses(lab_cluster: KubeCluster, namespace: str) -> set[str]:
    return {
        address
        for found in lab_cluster.list("EndpointSlice", namespace)
        for endpoint in found.get("endpoints") or ()
        if endpoint["conditions"].get("ready")
        for address in endpoint["addresses"]
    }


def test_settled_namespace_has_no_pending_controller_work(open_namespace: Open, lab_cluster: KubeCluster) -> None:
    """Settled states are asserted at once, without retries."""
    clock = open_namespace("settle-a")
    for obj in workload("settle-a", "web"):
        lab_cluster.create(obj)
    clock.wait(clock.now() + 30)
    pods = lab_cluster.list("Pod", "settle-a")
    assert {p["status"]["podIP"] for p in pods} == ready_addresses(lab_cluster, "settle-a")
    assert len(pods) == 2
    for replicas in (5, 0, 3):
        web = Reference("Deployment", "web", "settle-a", "apps")
        lab_cluster.patch(web, {"spec": {"replicas": replicas}})
        clock.wait(clock.now() + 15)
        found = lab_cluster.get(web)
        assert found is not None
        assert found["status"].get("readyReplicas", 0) == replicas
        assert len(lab_cluster.list("Pod", "settle-a")) == len(ready_addresses(lab_cluster, "settle-a")) == replicas


def build_untracked_objects(namespace: str) -> list[Object]:
    """Objects whose revisions only etcd's own watch delivers."""
    rbac, meta = "rbac.authorization.k8s.io", {"name": "idle", "namespace": namespace}
    return [
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": {}},
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": meta, "rules": []},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "idle"},
        },
        {"apiVersion": "v1", "kind": "Endpoints", "metadata": meta},
        {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": meta, "revision": 1, "data": {}},
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": {}},
    ]


@pytest.mark.parametrize("attempt", range(5))
def test_irrelevant_revisions_are_tracked(lab: LabState, lab_cluster: KubeCluster, attempt: int) -> None:
    """Without them every read of a namespace would list all kinds, and trials take twice as long."""
    store, stop = ObjectStore(), threading.Event()
    tls = store_access.locate_store_tls(locate_pki(lab)).build_client_context()
    revisions = Revisions(store_access.build_store_url(lab.ports["etcd"]), store, stop, tls)
    for key in WATCHED:
        threading.Thread(target=partial(revisions.follow, key), daemon=True).start()
    namespace = f"idle-{attempt}"
    lab_cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    try:
        for obj in build_untracked_objects(namespace):

            def heard(obj: Object = obj) -> bool:
                """A write may come before its watch: the next one does not."""
                labels = {"metadata": {"labels": {"at": f"t{time.monotonic_ns()}"}}}
                group = obj["apiVersion"].rpartition("/")[0]
                written = read_revision(lab_cluster.patch(Reference(obj["kind"], "idle", namespace, group), labels))
                return store.wait(lambda: store.saw_all(written - 1, written), 1)

            lab_cluster.create(obj)
            assert any(heard() for _ in range(10)), obj["kind"]
    finally:
        stop.set()
        revisions.close()
        lab_cluster.delete(Reference("Namespace", namespace))


def test_time_moves_only_in_a_wait_and_on_the_grid(open_namespace: Open, lab: LabState) -> None:
    clock = open_namespace("settle-b")
    assert clock.now() == lab.epoch
    assert clock.wait(clock.now()) == lab.epoch
    assert clock.wait(lab.epoch + 100) == lab.epoch + 105
    assert clock.now() == lab.epoch + 105


def test_chaos_is_injected_and_removed_when_settled(open_namespace: Open, lab_cluster: KubeCluster) -> None:
    clock = open_namespace("settle-c")
    for obj in workload("settle-c", "web"):
        lab_cluster.create(obj)
    clock.wait(clock.now() + 30)
    names = [p["metadata"]["name"] for p in lab_cluster.list("Pod", "settle-c")]
    spec: Object = {
        "action": "delay",
        "mode": "all",
        "direction": "to",
        "selector": {"namespaces": ["settle-c"], "pods": {"settle-c": names}},
        "delay": {"latency": "250ms", "jitter": "0ms", "correlation": "0"},
    }
    metadata = {"name": CHAOS.name, "namespace": CHAOS.namespace}
    lab_cluster.create(
        {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": CHAOS.kind, "metadata": metadata, "spec": spec}
    )
    clock.wait(clock.now())
    found = lab_cluster.get(CHAOS)
    assert found is not None
    assert [r["phase"] for r in found["status"]["experiment"]["containerRecords"]] == ["Injected", "Injected"]
    lab_cluster.delete(CHAOS)
    clock.wait(clock.now())
    assert lab_cluster.get(CHAOS) is None


def test_stuck_rollout_exceeds_its_deadline_in_virtual_time(open_namespace: Open, lab_cluster: KubeCluster) -> None:
    clock = open_namespace("settle-d")
    for obj in workload("settle-d", "web", image="registry.invalid/no/such:1"):
        lab_cluster.create(obj)
    clock.wait(clock.now() + 120)
    found = lab_cluster.get(Reference("Deployment", "web", "settle-d", "apps"))
    assert found is not None
    reasons = {c["type"]: c["reason"] for c in found["status"]["conditions"]}
    assert reasons["Progressing"] == "ProgressDeadlineExceeded"


def test_raised_quota_takes_effect_without_back_off(open_namespace: Open, lab_cluster: KubeCluster) -> None:
    clock = open_namespace("settle-e")
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "settle-e"}}
    lab_cluster.create({**quota, "spec": {"hard": {"pods": "1"}}})
    for obj in workload("settle-e", "web"):
        lab_cluster.create(obj)
    clock.wait(clock.now() + 60)
    assert len(lab_cluster.list("Pod", "settle-e")) == 1
    lab_cluster.patch(Reference("ResourceQuota", "q", "settle-e"), {"spec": {"hard": {"pods": "5"}}})
    clock.wait(clock.now())
    assert len(lab_cluster.list("Pod", "settle-e")) == 2


def test_equal_seeds_give_equal_series(open_namespace: Open, lab_cluster: KubeCluster, lab: LabState, app: App) -> None:
    from scenario_kit.render import render_app

    metrics = connect_metrics(lab)
    seen: list[list[Any]] = []
    for namespace in ("settle-f", "settle-g"):
        clock = open_namespace(namespace, seed=7)
        for obj in render_app(app, {}, 50, namespace):
            lab_cluster.create(obj)
        end = clock.wait(clock.now() + 300)
        kept = "service_name, span_name, span_kind, status_code, le"
        expr = f'sum by (__name__, {kept}) ({{__name__=~"traces_.*", namespace="{namespace}"}})'
        series = metrics.range(expr, lab.epoch + 15, end, 15)
        seen.append(sorted((sorted(s.labels.items()), list(s.points)) for s in series))
    assert len(seen[0]) > 100
    assert seen[0] == seen[1]
