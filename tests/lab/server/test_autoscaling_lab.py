"""The real controller of autoscalers on the real API server, asking our metrics API, in virtual time.

Only what it takes: etcd, API server and controller-manager. Pods are bound by their template, and a kubelet of a few
lines says that they run.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.clients import KubeCluster
from scenario_kit.lab.control_plane import apiservice, cluster
from scenario_kit.lab.control_plane.cluster_keys import write_cluster_keys
from scenario_kit.lab.host.addresses import find_free_ports
from scenario_kit.lab.informers.barrier import Barrier
from scenario_kit.lab.informers.reflector import Informers
from scenario_kit.lab.informers.resource_versions import ApiVersions
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.informers.watched_kinds import CLUSTER, WORKLOADS
from scenario_kit.lab.server.metrics_api import MetricsApi, serve
from scenario_kit.lab.server.threads import Threads
from scenario_kit.lab.settle.hpa_pacing import MetricsGate
from scenario_kit.lab.settle.requeue import Requeuer
from scenario_kit.lab.settle.waiter import Settler
from scenario_kit.lab.twin import Telemetry, View
from scenario_kit.lab.worlds import LabContext, SampleHorizon, Worlds
from scenario_kit.lab.worlds.world import LabWorld
from scenario_kit.model import Object, Reference
from scenario_kit.model.runtime.process import Usage
from tests.lab.worlds.fake_lab import EPOCH, FakeNodes, FakeSink, FakeTwin, NoEffects, spec

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

_PARTS = ("etcd", "kube-apiserver", "kube-controller-manager")
LABELS = {"app": "web"}
SCALER = Reference("HorizontalPodAutoscaler", "web", "shop", "autoscaling")


def objects() -> list[Object]:
    container = {"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "100m"}}}
    template = {"metadata": {"labels": LABELS}, "spec": {"nodeName": "worker-1", "containers": [container]}}
    target = {"type": "Utilization", "averageUtilization": 70}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"replicas": 2, "selector": {"matchLabels": LABELS}, "template": template},
        },
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "minReplicas": 2,
                "maxReplicas": 6,
                "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
            },
        },
    ]


class Loaded(FakeTwin):
    """A twin whose pods share ``cores`` of load."""

    def __init__(self) -> None:
        super().__init__()
        self.cores = 0.1

    def step(self, view: View, t: float, dt: float) -> Telemetry:
        super().step(view, t, dt)
        pods = [pod["metadata"]["uid"] for pod in view.kind("Pod").values()]
        usage = {(uid, "c"): Usage(self.cores / len(pods), 32 * 2.0**20) for uid in pods}
        return Telemetry({}, [], usage, [])


class Kubelet(FakeNodes):
    """Every pod is ready once it exists, and is removed on deletion."""

    def __init__(self, store: ObjectStore, kube: KubeCluster) -> None:
        super().__init__()
        self._store = store
        self._kube = kube
        self._done: set[str] = set()

    def run_once(self, namespace: str | None = None, now: float | None = None) -> int:
        assert now is not None
        writes = 0
        for name, pod in self._store.names("shop", "Pod").items():
            uid, ending = pod["metadata"]["uid"], "deletionTimestamp" in pod["metadata"]
            if (key := f"{uid}{ending}") in self._done:
                continue
            self._done.add(key)
            writes += 1
            if ending:
                self._kube.delete(Reference("Pod", name, "shop"), grace_seconds=0)
            else:
                self._kube.patch(
                    Reference("Pod", name, "shop"), {"status": _build_running_status(now)}, subresource="status"
                )
        return writes


def _build_running_status(now: float) -> Object:
    at = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    status = {"name": "c", "image": "web:1", "imageID": "", "ready": True, "restartCount": 0}
    return {
        "phase": "Running",
        "startTime": at,
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": at} for kind in ("Ready", "ContainersReady")
        ],
        "containerStatuses": [status | {"state": {"running": {"startedAt": at}}}],
    }


@pytest.fixture(scope="module")
def control_plane(
    binary: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Path]]:
    """The kubeconfig of a control plane with the lab's own settings, and its keys."""
    kwokctl, binaries = binary("kwokctl"), {part: binary(part) for part in _PARTS}
    folder = tmp_path_factory.mktemp("autoscaling")
    name, kubeconfig = f"scale-{os.getpid()}", folder / "kubeconfig"
    pki = folder / "kwok" / "clusters" / name / "pki"
    write_cluster_keys(pki)
    apiservice.write_keys(pki)
    ports = find_free_ports(len(_PARTS) + 1, set())
    settings = cluster.build_configuration(ports[-1], {"kube-apiserver": apiservice.build_flags(pki)})
    (folder / "kwokctl.yaml").write_text(yaml.safe_dump(settings))
    arguments = ["--runtime", "binary", "--kubeconfig", str(kubeconfig), "--disable-qps-limits", "--wait", "120s"]
    arguments += ["--components", ",".join(_PARTS)]
    for (part, path), port in zip(binaries.items(), ports, strict=False):
        arguments += [f"--{part}-binary", str(path), f"--{part}-port", str(port)]
    command = [str(kwokctl), "--name", name, "--config", str(folder / "kwokctl.yaml")]
    environment = {**os.environ, "KWOK_WORKDIR": str(folder / "kwok")}

    def run(*what: str) -> None:
        subprocess.run([*command, *what], env=environment, check=True, capture_output=True, text=True, timeout=180)

    try:
        run("create", "cluster", *arguments)
        yield kubeconfig, pki
    finally:
        run("delete", "cluster")


@pytest.fixture(scope="module")
def kube(control_plane: tuple[Path, Path]) -> Iterator[KubeCluster]:
    client = KubeCluster(control_plane[0], field_manager="platform")
    yield client
    client.close()


class AutoscaledWorld:
    """A world in virtual time on that control plane."""

    def __init__(self, kubeconfig: Path, pki: Path, kube: KubeCluster, stack: ExitStack) -> None:
        threads, self.store, self.twin, worlds = Threads(), ObjectStore(), Loaded(), Worlds()
        stack.callback(threads.stop.set)
        self.metrics_gate = MetricsGate(self.store, worlds.read_tick)
        stack.callback(self.metrics_gate.close)
        self.store.listen(self.metrics_gate.on_event)
        Informers(KubeCluster(kubeconfig), self.store, threads.stop, threads.spawn).follow((*CLUSTER, *WORKLOADS))
        versions = ApiVersions(kubeconfig)
        stack.callback(versions.close)
        barrier = Barrier(versions, self.store, WORKLOADS)
        stack.callback(barrier.close)
        worlds.attach(
            LabContext(
                store=self.store,
                settler=Settler(self.store, barrier, Requeuer(kube)),
                metrics_gate=self.metrics_gate,
                nodes=Kubelet(self.store, kube),
                effects=NoEffects(),
                cluster=kube,
                twin_of=lambda _: self.twin,
                sink_of=FakeSink,
                epoch=EPOCH,
                sample_horizon=SampleHorizon(),
                set_chaos_base=lambda _, base: None,
            )
        )
        server = serve(MetricsApi(worlds, self.store, self.metrics_gate.pace), 0, apiservice.build_server_context(pki))
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        stack.callback(server.server_close)
        stack.callback(server.shutdown)
        for obj in apiservice.build_objects(pki, int(server.server_address[1])):
            kube.apply(obj)
        self._kube = kube
        self.world: LabWorld = worlds.open(spec())

    def advance(self, ticks: int) -> list[int]:
        """The replicas that are wanted after each of the next ticks."""
        found = []
        for _ in range(ticks):
            until = self.world.now + 15
            limit = time.monotonic() + 120
            while not (waited := self.world.wait(until, stride=None, seconds=20, should_continue=lambda: True)).settled:
                assert time.monotonic() < limit, waited.reason
            found.append(int(self.store.names("shop", "Deployment")["web"]["spec"]["replicas"]))
        return found

    def scaler(self) -> Any:
        found = self._kube.get(SCALER)
        assert found is not None
        return found


@pytest.fixture(scope="module")
def autoscaled(control_plane: tuple[Path, Path], kube: KubeCluster) -> Iterator[AutoscaledWorld]:
    with ExitStack() as stack:
        autoscaled = AutoscaledWorld(*control_plane, kube, stack)
        for obj in objects():
            kube.create(obj)
        yield autoscaled


def test_api_server_proxies_pod_metrics(autoscaled: AutoscaledWorld, kube: KubeCluster) -> None:
    autoscaled.advance(4)
    pods = kube.list("PodMetrics", group=apiservice.GROUP, namespace="shop")
    assert [each["containers"] for each in pods] == [[{"name": "c", "usage": {"cpu": "50m", "memory": "32Mi"}}]] * 2
    assert autoscaled.scaler()["status"]["currentMetrics"][0]["resource"]["current"] == {
        "averageUtilization": 50,
        "averageValue": "50m",
    }


def test_hpa_doubles_per_tick_and_shrinks_after_its_window(autoscaled: AutoscaledWorld, kube: KubeCluster) -> None:
    assert autoscaled.advance(2) == [2, 2]
    autoscaled.twin.cores = 0.4  # 200 % of what two pods ask for
    # Measured at the end of the first tick; at most double, or four, per look.
    assert autoscaled.advance(4) == [2, 4, 6, 6]
    autoscaled.twin.cores = 0.1
    replicas = autoscaled.advance(26)
    fell = next(n for n, each in enumerate(replicas) if each < 6)
    assert replicas[fell:] == [2] * (26 - fell)
    assert 20 <= fell <= 23  # five minutes of virtual time after the first look at less
    assert autoscaled.scaler()["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"] == 300
    reported = {event["reason"] for event in kube.list("Event", "shop") if event["involvedObject"]["name"] == "web"}
    assert "SuccessfulRescale" in reported
