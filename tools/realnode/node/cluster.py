"""The cluster: a control plane as in the lab, and one real node with containerd, kubelet and kube-proxy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import LabError
from scenario_kit.lab import process_specs
from scenario_kit.lab.control_plane import cluster, kubeconfigs
from scenario_kit.lab.host import supervisor
from scenario_kit.lab.host.state import LabState
from scenario_kit.model import Object, Reference
from tools.reality.configuration import build_kubelet_configuration, build_network, format_containerd_configuration
from tools.realnode.images import PAUSE
from tools.realnode.node.isolation import ADDRESS
from tools.realnode.node.processes import RunningProcesses

LAB: Final = "real-node"
NODE: Final = "real-1"
CONTEXT: Final = f"scenario-kit-{LAB}"
_PODS: Final = "10.213.10.0/24"
_USUAL_SOCKET: Final = Path("/run/containerd/containerd.sock")
_KUBELET_PORT: Final = 10250
_READY_SECONDS: Final = 120.0
#: Differences from a lab with simulated nodes: pods reach the API server, which reaches the kubelet.
_FLAGS: Final[Mapping[str, Mapping[str, str]]] = {
    cluster.API_SERVER: {
        "advertise-address": ADDRESS,
        "bind-address": "0.0.0.0",
        "kubelet-preferred-address-types": "InternalIP",
        "watch-cache": "true",
    },
    "kube-controller-manager": {
        "horizontal-pod-autoscaler-sync-period": "15s",
        "concurrent-horizontal-pod-autoscaler-syncs": "5",
    },
}
_PROXY_TOOLS: Final = (
    "iptables",
    "iptables-save",
    "iptables-restore",
    "ip6tables",
    "ip6tables-save",
    "ip6tables-restore",
)


class RealCluster:
    """A cluster with its files in ``folder``; ``binaries`` by toolchain name."""

    def __init__(self, folder: Path, binaries: Mapping[str, Path]) -> None:
        self.folder = folder
        self.processes = RunningProcesses(folder)
        self._binaries = binaries
        self.state: LabState = self._start_control_plane()
        self.kubeconfig = Path(self.state.kubeconfig)
        self.client = KubeCluster(self.kubeconfig, field_manager="real-node")

    def run_kubectl(self, *arguments: str, stdin: str = "") -> str:
        """Run kubectl as administrator; returns its output.

        Raises:
            LabError: it fails.
        """
        command = [str(self._binaries["kubectl"]), "--kubeconfig", str(self.kubeconfig), *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"kubectl {' '.join(arguments[:3])}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, documents: Iterable[Object]) -> None:
        """Apply objects, in order."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(documents)}
        self.run_kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(listed))

    def await_deployments(self, namespace: str) -> None:
        """Wait until all Deployments of a namespace are available.

        Raises:
            LabError: they do not become available in time.
        """

        def missing() -> list[str]:
            found = self.client.list("Deployment", namespace)
            return [d["metadata"]["name"] for d in found if not _is_available(d)]

        def explain() -> str:
            names = ", ".join(missing())
            pods = self.run_kubectl("-n", namespace, "get", "pods", "-o", "wide")
            events = self.run_kubectl("-n", namespace, "get", "events", "--sort-by=.lastTimestamp").splitlines()[-8:]
            return f"not available in {namespace}: {names}\n{pods}\n" + "\n".join(events)

        self.processes.wait(lambda: not missing(), _READY_SECONDS, explain)

    def await_daemons(self, namespace: str) -> None:
        """Wait until every DaemonSet of a namespace has an available pod.

        Raises:
            LabError: they do not become available in time.
        """

        def ready() -> bool:
            found = [d.get("status") or {} for d in self.client.list("DaemonSet", namespace)]
            return bool(found) and all(s.get("numberAvailable", 0) >= 1 for s in found)

        self.processes.wait(
            ready, _READY_SECONDS, lambda: self.run_kubectl("-n", namespace, "get", "pods", "-o", "wide")
        )

    def join_node(self, archives: Sequence[Path]) -> None:
        """Start containerd with the images, kubelet and kube-proxy; wait until the node is ready.

        Raises:
            LabError: a component does not start.
        """
        self._start_containerd(archives)
        self._start_kubelet()
        self._start_proxy()
        ref = Reference("Node", NODE, "")
        self.processes.wait(
            lambda: is_ready(self.client.get(ref)),
            _READY_SECONDS,
            lambda: f"the node is not ready: {self.client.get(ref)}",
        )

    def _start_control_plane(self) -> LabState:
        state = process_specs.plan(LAB, (), ADDRESS)
        pki = supervisor.locate_pki(state)
        kubelet = {
            "kubelet-certificate-authority": str(pki / "ca.crt"),
            "kubelet-client-certificate": str(pki / "admin.crt"),
            "kubelet-client-key": str(pki / "admin.key"),
        }
        flags = {**_FLAGS, cluster.API_SERVER: {**_FLAGS[cluster.API_SERVER], **kubelet}}
        return start_control_plane(state, self._binaries, flags)

    def _start_containerd(self, archives: Sequence[Path]) -> None:
        (self.folder / "cni").mkdir()
        network = build_network("real-node", "pods0", _PODS, self.folder / "memory" / "ipam", hairpin=True)
        (self.folder / "cni" / "pods.conflist").write_text(json.dumps(network))
        configuration = self.folder / "containerd.toml"
        configuration.write_text(format_containerd_configuration(self.folder, PAUSE))
        self.processes.start("containerd", ["containerd", "--config", str(configuration)])
        ctr = ["ctr", "--address", str(self.folder / "containerd.sock"), "--namespace", "k8s.io"]

        def answers() -> bool:
            return subprocess.run([*ctr, "version"], capture_output=True, check=False).returncode == 0

        self.processes.wait(answers, _READY_SECONDS, lambda: "containerd does not answer")
        # The kubelet's container metrics (cAdvisor) only look for the runtime at its default socket.
        _USUAL_SOCKET.symlink_to(self.folder / "containerd.sock")
        for archive in archives:
            done = subprocess.run([*ctr, "images", "import", str(archive)], capture_output=True, text=True, check=False)
            if done.returncode:
                raise LabError(f"containerd refuses {archive}: {done.stderr.strip()}")

    def _start_kubelet(self) -> None:
        pki = supervisor.locate_pki(self.state)
        authority = Authority.load(pki / "ca.crt", pki / "ca.key")
        certificate, key = self.folder / "kubelet.crt", self.folder / "kubelet.key"
        issue(authority, NODE, hosts=[NODE], addresses=[ADDRESS], client=False).write(certificate, key)
        # Pods with dnsPolicy Default get the node's resolver, which answers nothing.
        resolver = self.folder / "resolv.conf"
        resolver.write_text(f"nameserver {ADDRESS}\n")
        settings: dict[str, Any] = build_kubelet_configuration(self.folder, _KUBELET_PORT) | {
            "address": ADDRESS,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(pki / "ca.crt")},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": str(certificate),
            "tlsPrivateKeyFile": str(key),
            "resolvConf": str(resolver),
            "maxPods": 200,
        }
        configuration = self.folder / "kubelet.yaml"
        configuration.write_text(yaml.safe_dump(settings))
        options = {
            "config": configuration,
            "kubeconfig": self.kubeconfig,
            "root-dir": self.folder / "memory" / "kubelet",
            "hostname-override": NODE,
            "node-ip": ADDRESS,
        }
        self.processes.start("kubelet", [str(self._binaries["kubelet"]), *(f"--{k}={v}" for k, v in options.items())])

    def _start_proxy(self) -> None:
        # The nft variants need kernel features that may be missing; the legacy ones work wherever kube-proxy does.
        tools = self.folder / "proxy-tools"
        tools.mkdir()
        for name in _PROXY_TOOLS:
            legacy = shutil.which(name.replace("tables", "tables-legacy", 1))
            if legacy:
                (tools / name).symlink_to(Path(legacy).resolve())
        settings = {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "hostnameOverride": NODE,
            "clusterCIDR": _PODS,
            "healthzBindAddress": f"{ADDRESS}:10256",
            "metricsBindAddress": f"{ADDRESS}:10249",
            "clientConnection": {"kubeconfig": str(self.kubeconfig)},
            # Conntrack limits apply to the whole machine.
            "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        }
        configuration = self.folder / "kube-proxy.yaml"
        configuration.write_text(yaml.safe_dump(settings))
        command = [str(self._binaries["kube-proxy"]), f"--config={configuration}"]
        self.processes.start("kube-proxy", command, {"PATH": f"{tools}:{os.environ['PATH']}"})


def start_control_plane(
    state: LabState, binaries: Mapping[str, Path], flags: Mapping[str, Mapping[str, str]] | None = None
) -> LabState:
    """Start a planned control plane without a lab server, and wait until it is ready.

    Raises:
        LabError: a component does not start.
    """
    Path(state.folder).mkdir(parents=True, mode=0o700)
    state = cluster.create(state, binaries, flags)
    state.save()
    server, pki = process_specs.build_api_server_url(state), supervisor.locate_pki(state)
    kubeconfigs.write_admin(Path(state.kubeconfig), state.name, server, pki)
    supervisor.HealthProbe(state).wait(["kube-apiserver"], _READY_SECONDS)
    if state.dead_parts():  # on a busy machine: the controller-manager does not wait long for the API server
        state = cluster.restart(state, binaries)
        state.save()
    supervisor.HealthProbe(state).wait(["kube-controller-manager"], _READY_SECONDS)
    return state


def _is_available(deployment: Object) -> bool:
    wanted: int = deployment["spec"].get("replicas", 1)
    status = deployment.get("status") or {}
    if status.get("observedGeneration") != deployment["metadata"]["generation"]:
        return False
    return all(status.get(field, 0) >= wanted for field in ("availableReplicas", "updatedReplicas"))


def is_ready(node: Object | None) -> bool:
    """Return whether a node is ready."""
    conditions = ((node or {}).get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
