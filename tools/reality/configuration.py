"""Configuration of containerd, its network and a kubelet for a node within one folder."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from scenario_kit.model.base import Object

#: Debian's folder of CNI plugins.
PLUGINS = Path("/usr/lib/cni")
_CGROUPS = Path("/sys/fs/cgroup")


def build_network(name: str, bridge: str, subnet: str, addresses: Path, *, hairpin: bool = False) -> Object:
    """Build the configuration of the pods' bridge; ``addresses`` is the folder of allocated addresses.

    With ``hairpin``, a pod can reach itself through its own Service.
    """
    ipam: Object = {
        "type": "host-local",
        "dataDir": str(addresses),
        "ranges": [[{"subnet": subnet}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    plugin: Object = {"type": "bridge", "bridge": bridge, "isGateway": True, "ipMasq": False, "ipam": ipam}
    return {"cniVersion": "0.4.0", "name": name, "plugins": [{**plugin, "hairpinMode": True} if hairpin else plugin]}


def format_containerd_configuration(folder: Path, pause: str) -> str:
    """Format a containerd configuration; ``pause`` is the sandbox image."""
    return _CONTAINERD.format(folder=folder, pause=pause, cni=PLUGINS)


def build_kubelet_configuration(folder: Path, port: int) -> Object:
    """Build a kubelet configuration that works with cgroup v1 and v2, and where OOM scores cannot be lowered."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": "127.0.0.1",
        "port": port,
        "healthzPort": 0,
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "cgroupDriver": "cgroupfs",
        "containerRuntimeEndpoint": f"unix://{folder}/containerd.sock",
        "enforceNodeAllocatable": [],
        "failCgroupV1": False,
        "failSwapOn": False,
        "makeIPTablesUtilChains": False,
        "podLogsDir": str(folder / "memory" / "pod-logs"),
        "registerNode": True,
        "evictionHard": {"memory.available": "0%", "nodefs.available": "0%", "imagefs.available": "0%"},
        "clusterDNS": ["10.96.0.10"],
        "clusterDomain": "cluster.local",
    }


def find_node_problems(programs: Mapping[str, str], command: str) -> list[str]:
    """Return why a real node cannot run here; empty if it can.

    Args:
        programs: those that it needs, each with its Debian package.
        command: what needs the node.
    """
    found = []
    if os.geteuid() != 0:
        found.append(f"a container runtime needs root: sudo {command}")
    missing = {package for program, package in programs.items() if shutil.which(program) is None}
    if not (PLUGINS / "bridge").exists():
        missing.add("containernetworking-plugins")
    if missing:
        found.append(f"programs are missing: apt-get install --no-install-recommends {' '.join(sorted(missing))}")
    if groups := find_pod_cgroups():
        found.append(f"another kubelet runs here, or its cgroups are left: {groups[0]}")
    return found


def find_pod_cgroups() -> list[Path]:
    """Find the cgroups of pods, one per hierarchy."""
    return [top for top in (*_CGROUPS.glob("*/kubepods"), _CGROUPS / "kubepods") if top.is_dir()]


def remove_cgroup(top: Path) -> None:
    """Remove a cgroup and those below it, waiting for processes that are exiting."""
    end = time.monotonic() + 10
    for folder, _, _ in sorted(os.walk(top), key=lambda entry: -entry[0].count("/")):
        while True:
            try:
                Path(folder).rmdir()
                break
            except FileNotFoundError:
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)


_CONTAINERD = """version = 2
root = "{folder}/memory/root"
state = "{folder}/memory/state"
disabled_plugins = ["io.containerd.grpc.v1.nri", "io.containerd.internal.v1.tracing"]
[grpc]
  address = "{folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  # Lowering the score is not permitted in every container or virtual machine.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni}"
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
"""
