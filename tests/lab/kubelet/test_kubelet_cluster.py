"""The kubelet under a real control plane, with its controllers and scheduler."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.clients import KubeCluster
from scenario_kit.lab.host.mutual_tls import MutualTls
from scenario_kit.lab.kubelet import ClusterWriter, Kubelet, KubeletSources, LogFolder
from scenario_kit.lab.server.log_api import LogApi, serve
from scenario_kit.model import Object, Reference
from scenario_kit.model.runtime.process import Exit, InitState, LogRecord, ProcessStart

pytestmark = pytest.mark.lab

_PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kwokctl")
_SETTINGS = "kind: KwokctlConfiguration\napiVersion: config.kwok.x-k8s.io/v1alpha1\noptions: {bindAddress: 127.0.0.1}\n"
_PATIENCE = 30.0


class Programs:
    """Processes by image tag: ``:1`` runs, ``:crash`` ends after a tenth of a second; ``:absent`` is in no registry."""

    def has_program(self, image: str, program: str) -> bool:
        return False

    def image_exists(self, image: str) -> bool:
        return not image.endswith(":absent")

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        image = next(c["image"] for c in pod["spec"]["containers"] if c["name"] == container)
        if image.endswith(":crash"):
            return ProcessStart(0.1, Exit(pod["metadata"]["uid"], container, 3, "Error"))
        if image.endswith(":job"):
            return ProcessStart(0.1, Exit(pod["metadata"]["uid"], container, 0, "Completed"))
        return ProcessStart(0.0)

    def init(self, pod: Object, container: str, now: float) -> InitState:
        return InitState("Succeeded", 0, ("ready",))

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        return True


def make_server_context(folder: Path) -> ssl.SSLContext:
    """Build TLS without client certificates: this API server has none for its kubelets."""
    tls = MutualTls(folder.parent / "tls", "kubelet")
    tls.write()
    context = tls.build_server_context()
    context.verify_mode = ssl.CERT_NONE
    return context


class Site:
    """A cluster with one simulated node and our kubelet, driven by a watch and the wall clock."""

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        self.kubeconfig = kubeconfig
        self.cluster = KubeCluster(kubeconfig, field_manager="kubelet")
        self.user = KubeCluster(kubeconfig, field_manager="test")
        logs = LogFolder(folder)
        self.served = serve(LogApi(logs, self._find_pod, lambda _: time.time()), 0, make_server_context(folder))
        self.node = self._join(self.served.server_port)
        self.kubelet = Kubelet(
            ClusterWriter(self.cluster),
            KubeletSources(
                read_clock=lambda _: time.time(),
                processes_of=lambda _: Programs(),
                lookup_of=lambda namespace: _Lookup(self.cluster, namespace),
                node_of=lambda name: self.node if name == "node-0" else None,
            ),
            logs=logs,
        )
        self.failures: list[BaseException] = []
        self._stop = threading.Event()
        self._news = threading.Event()
        tasks = (self._watch, self._drive, self.served.serve_forever)
        self._threads = [threading.Thread(target=self._guarded, args=(task,)) for task in tasks]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()
        self._news.set()
        self.served.shutdown()
        self.served.server_close()
        for thread in self._threads:
            thread.join(10)
        self.kubelet.close()
        self.cluster.close()
        self.user.close()
        assert self.failures == []

    def until(self, seen: Callable[[], Any]) -> Any:
        """What ``seen`` returns once that is truthy; fails after a while."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if self.failures:
                raise self.failures[0]
            if found := seen():
                return found
            self._stop.wait(0.05)
        return pytest.fail("it did not happen in time")

    def pod(self, namespace: str, app: str) -> Object:
        pods = self.user.list("Pod", namespace, labels={"app": app})
        return pods[0] if pods else {}

    def entry(self, namespace: str, app: str) -> Object:
        return next(iter(self.pod(namespace, app).get("status", {}).get("containerStatuses", ())), {"state": {}})

    def _find_pod(self, namespace: str, name: str) -> Object | None:
        return self.user.get(Reference("Pod", name, namespace))

    def _guarded(self, run: Callable[[], None]) -> None:
        try:
            run()
        except BaseException as error:  # noqa: BLE001
            self.failures.append(error)

    def _watch(self) -> None:
        for kind, pod in self.cluster.watch("Pod", stop=self._stop):
            if kind != "SYNCED":
                self.kubelet.observe(kind, pod)  # type: ignore[arg-type]
                self._news.set()

    def _drive(self) -> None:
        while not self._stop.is_set():
            self._news.wait(0.1)
            self._news.clear()
            self.kubelet.run_once()

    def _join(self, port: int) -> Object:
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": "node-0",
                "annotations": {"kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0"},
            },
        }
        self.user.create(node)
        self.user.patch(
            Reference("Node", "node-0", ""),
            {
                "status": {
                    "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                    "allocatable": {"cpu": "32", "memory": "64Gi", "pods": "100"},
                    "capacity": {"cpu": "32", "memory": "64Gi", "pods": "100"},
                    "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
                    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
                }
            },
            subresource="status",
        )
        found = self.user.get(Reference("Node", "node-0", ""))
        assert found is not None
        return found


class _Lookup:
    def __init__(self, cluster: KubeCluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace

    def find(self, kind: str, name: str) -> Object | None:
        return self._cluster.get(Reference(kind, name, self._namespace))


@pytest.fixture(scope="module")
def site(binary: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    paths = {part: binary(part) for part in _PARTS}
    folder = tmp_path_factory.mktemp("kubelet")
    (folder / "kwokctl.yaml").write_text(_SETTINGS)
    kubeconfig = folder / "kubeconfig"
    command = [str(paths["kwokctl"]), "--name", f"t{uuid.uuid4().hex[:6]}", "--config", str(folder / "kwokctl.yaml")]
    environment = {**os.environ, "KWOK_WORKDIR": str(folder / "kwok")}
    kwok_port = _free_port()

    def run(*arguments: str) -> None:
        subprocess.run([*command, *arguments], env=environment, check=True, capture_output=True, text=True, timeout=90)

    try:
        run(
            "create", "cluster", "--runtime", "binary", "--kubeconfig", str(kubeconfig),
            "--etcd-binary", str(paths["etcd"]), "--kube-apiserver-binary", str(paths["kube-apiserver"]),
            "--kube-controller-manager-binary", str(paths["kube-controller-manager"]),
            "--kube-scheduler-binary", str(paths["kube-scheduler"]), "--kwok-controller-binary", str(paths["kwok"]),
            "--kube-apiserver-port", str(_free_port()), "--controller-port", str(kwok_port),
            "--extra-args", "kube-apiserver=advertise-address=127.0.0.1",
            "--extra-args", "kube-controller-manager=node-monitor-grace-period=10m",  # nothing renews the lease here
            "--disable-qps-limits", "--enable-crds", "Stage", "--wait", "60s",
        )  # fmt: skip
        made = Site(kubeconfig, folder / "logs")
        yield made
        made.close()
    except subprocess.CalledProcessError as error:
        pytest.fail(f"the cluster did not start: {error.stderr}")
    finally:
        run("delete", "cluster", "--kubeconfig", str(kubeconfig))


@pytest.fixture
def space(site: Site) -> str:
    name = f"t-{uuid.uuid4().hex[:6]}"
    site.user.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    site.until(lambda: site.user.get(Reference("ServiceAccount", "default", name)))
    return name


def deployment(space: str, name: str, image: str, replicas: int = 1, **pod: Any) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": space},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": image}], **pod},
            },
        },
    }


def available(site: Site, space: str, name: str, replicas: int) -> Callable[[], bool]:
    def seen() -> bool:
        found = site.user.get(Reference("Deployment", name, space, "apps")) or {}
        return bool(found.get("status", {}).get("availableReplicas", 0) == replicas)

    return seen


def test_deployment_becomes_available_and_is_deleted(site: Site, space: str) -> None:
    site.user.create(deployment(space, "web", "app:1", 3, initContainers=[{"name": "wait", "image": "app:1"}]))
    site.until(available(site, space, "web", 3))
    pod = site.pod(space, "web")
    site.kubelet.append(space, [LogRecord(pod["metadata"]["name"], "main", time.time(), "hello")])
    site.kubelet.flush()
    site.until(lambda: {line.text for line in site.user.logs(pod)} == {"hello", "ready"})
    reasons = {e["reason"] for e in site.user.list("Event", space) if e["source"].get("component") == "kubelet"}
    assert reasons == {"Pulling", "Pulled", "Created", "Started"}
    assert {f["manager"] for f in pod["metadata"]["managedFields"] if f.get("subresource") == "status"} >= {"kubelet"}
    site.user.patch(Reference("Deployment", "web", space, "apps"), {"spec": {"replicas": 0}})
    site.until(lambda: not site.user.list("Pod", space))


def test_unknown_image_backs_off_until_corrected(site: Site, space: str) -> None:
    site.user.create(deployment(space, "web", "app:absent"))
    site.until(lambda: site.entry(space, "web")["state"].get("waiting", {}).get("reason") == "ImagePullBackOff")
    assert "not found" in site.entry(space, "web")["state"]["waiting"]["message"]
    site.user.patch(
        Reference("Deployment", "web", space, "apps"),
        {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "app:1"}]}}}},
        "Strategic",
    )
    site.until(available(site, space, "web", 1))


def test_crash_loop(site: Site, space: str) -> None:
    site.user.create(deployment(space, "web", "app:crash"))
    site.until(lambda: site.entry(space, "web")["state"].get("waiting", {}).get("reason") == "CrashLoopBackOff")
    entry = site.entry(space, "web")
    assert entry["restartCount"] >= 1  # the first back-off is shown for a second only
    assert entry["lastState"]["terminated"]["exitCode"] == 3


def test_job_finishes(site: Site, space: str) -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "once", "namespace": space},
        "spec": {
            "template": {
                "metadata": {"labels": {"app": "once"}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "app:job"}]},
            }
        },
    }
    site.user.create(job)
    ref = Reference("Job", "once", space, "batch")
    site.until(lambda: (site.user.get(ref) or {}).get("status", {}).get("succeeded") == 1)


def test_image_changed_in_place(site: Site, space: str) -> None:
    site.user.create(deployment(space, "web", "app:1"))
    site.until(available(site, space, "web", 1))
    pod = site.pod(space, "web")
    ref = Reference("Pod", pod["metadata"]["name"], space)
    change = [{"op": "replace", "path": "/spec/containers/0/image", "value": "registry.k8s.io/pause:3.10"}]
    site.user.patch(ref, change, "Json")
    site.until(lambda: site.entry(space, "web").get("image") == "registry.k8s.io/pause:3.10")
    entry = site.entry(space, "web")
    assert entry["restartCount"] == 1
    assert entry["ready"] is True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
