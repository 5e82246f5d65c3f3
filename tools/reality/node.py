"""A real node: containerd and the kubelet in a process and a mount namespace of their own.

The namespaces are the clean-up: when their first process is killed, every container, shim and mount goes with it. What
lies outside of them, a network bridge, cgroups and a switch of the kernel, is put back by ``close``.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import yaml

from scenario_kit.errors import LabError
from scenario_kit.lab.host import procfs
from scenario_kit.model.base import Object
from tools.reality.image import archive

NAME = "real-1"
PAUSE = "docker.io/reality/pause:1"
_APPLETS = ("sh", "sleep", "tail", "test", "mkdir", "echo", "touch", "httpd", "true", "cat")
_BRIDGE = "reality0"
_SUBNET = "10.213.7.0/24"
_CNI = Path("/usr/lib/cni")
_FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
_CGROUPS = Path("/sys/fs/cgroup")
#: Folders that a kubelet and its runtime write to wherever they are told to work; memory covers them in the namespace.
_COVERED = ("/var/lib/cni", "/var/lib/kubelet", "/var/log/pods", "/var/log/containers", "/run/netns")
#: Program, and the Debian package that has it.
NEEDED = {
    "containerd": "containerd",
    "ctr": "containerd",
    "containerd-shim-runc-v2": "containerd",
    "runc": "runc",
    "busybox": "busybox-static",
    "unshare": "util-linux",
    "ip": "iproute2",
}


def problems() -> list[str]:
    """What keeps a real node from running here; empty when nothing does."""
    found = []
    if os.geteuid() != 0:
        found.append("a container runtime needs root: sudo ci/reality")
    missing = {package for program, package in NEEDED.items() if shutil.which(program) is None}
    if not (_CNI / "bridge").exists():
        missing.add("containernetworking-plugins")
    if missing:
        found.append(f"programs are missing: apt-get install --no-install-recommends {' '.join(sorted(missing))}")
    if _kubepods():
        found.append(f"another kubelet runs here, or its cgroups are left: {_kubepods()[0]}")
    if (Path("/sys/class/net") / _BRIDGE).exists():
        found.append(f"the network bridge {_BRIDGE} exists already: ip link delete {_BRIDGE}")
    return found


def put_back(folder: Path) -> None:
    """Undo what a node whose processes have ended left outside of its namespaces; nothing if none was in ``folder``."""
    noted = folder / "before.json"
    if not noted.exists():
        return
    before = json.loads(noted.read_text())
    if (Path("/sys/class/net") / _BRIDGE).exists():
        subprocess.run(["ip", "link", "delete", _BRIDGE], check=True)
    _FORWARD.write_text(before["forward"])
    for top in _kubepods():
        _remove_cgroup(top)
    for path in before["absent"]:
        with contextlib.suppress(OSError):
            Path(path).rmdir()
    noted.unlink()


class RealNode:
    """Joins the cluster of ``kubeconfig``. ``folder`` must not exist; everything that is written is in it."""

    def __init__(self, folder: Path, kubeconfig: Path, kubelet: Path, port: int) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        absent = [path for path in _COVERED if not Path(path).exists()]
        (folder / "before.json").write_text(json.dumps({"forward": _FORWARD.read_text(), "absent": absent}))
        for name, content in self._files(kubeconfig, kubelet, port).items():
            (folder / name).write_text(content)
        busybox = Path(shutil.which("busybox") or "busybox")
        for name, command in (("tools", ["sh"]), ("pause", ["sleep", "2147483647"])):
            (folder / f"{name}.tar").write_bytes(archive(f"docker.io/reality/{name}:1", busybox, _APPLETS, command))
        with (folder / "node.log").open("ab") as log:
            self._process = subprocess.Popen(
                ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc",
                 "sh", str(folder / "run.sh")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=folder,
                env={**os.environ, **procfs.make_marker(str(folder.parent))},
            )  # fmt: skip

    def check(self) -> None:
        """Raises ``LabError`` when the node's processes have ended."""
        if self._process.poll() is not None:
            tail = "\n".join((self._folder / "node.log").read_text(errors="replace").splitlines()[-12:])
            raise LabError(f"the real node ended with code {self._process.returncode}:\n{tail}")

    def close(self) -> None:
        """End it, and put back what is outside of its namespaces."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        put_back(self._folder)

    def _files(self, kubeconfig: Path, kubelet: Path, port: int) -> Mapping[str, str]:
        here = self._folder
        (here / "cni").mkdir()
        network: Object = {
            "cniVersion": "0.4.0",
            "name": "reality",
            "plugins": [
                {
                    "type": "bridge",
                    "bridge": _BRIDGE,
                    "isGateway": True,
                    "ipMasq": False,
                    "ipam": {
                        "type": "host-local",
                        "dataDir": str(here / "memory" / "ipam"),
                        "ranges": [[{"subnet": _SUBNET}]],
                        "routes": [{"dst": "0.0.0.0/0"}],
                    },
                }
            ],
        }
        cover = "\n".join(f"mkdir -p {path} && mount -t tmpfs none {path}" for path in _COVERED)
        return {
            "cni/reality.conflist": json.dumps(network),
            "containerd.toml": _CONTAINERD.format(folder=here, pause=PAUSE, cni=_CNI),
            "kubelet.yaml": yaml.safe_dump(self._configuration(port)),
            "run.sh": _RUN.format(folder=here, cover=cover, kubelet=kubelet, kubeconfig=kubeconfig, name=NAME),
        }

    def _configuration(self, port: int) -> Object:
        here = self._folder
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": "127.0.0.1",
            "port": port,
            "healthzPort": 0,
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"},
            "cgroupDriver": "cgroupfs",
            "containerRuntimeEndpoint": f"unix://{here}/containerd.sock",
            "enforceNodeAllocatable": [],
            "failCgroupV1": False,
            "failSwapOn": False,
            "makeIPTablesUtilChains": False,
            "podLogsDir": str(here / "memory" / "pod-logs"),
            "registerNode": True,
            "evictionHard": {"memory.available": "0%", "nodefs.available": "0%", "imagefs.available": "0%"},
            "clusterDNS": ["10.96.0.10"],
            "clusterDomain": "cluster.local",
        }


def _kubepods() -> list[Path]:
    """The cgroups of pods, one of each hierarchy."""
    return [top for top in (*_CGROUPS.glob("*/kubepods"), _CGROUPS / "kubepods") if top.is_dir()]


def _remove_cgroup(top: Path) -> None:
    """Remove an empty cgroup with those below it; one whose last process is just ending is waited for."""
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

_RUN = """set -e
{cover}
mkdir {folder}/memory && mount -t tmpfs none {folder}/memory
containerd --config {folder}/containerd.toml > {folder}/containerd.log 2>&1 &
ctr="ctr --address {folder}/containerd.sock --namespace k8s.io"
tries=0
until $ctr version > /dev/null 2>&1; do
  tries=$((tries + 1))
  if [ $tries -ge 300 ]; then echo 'containerd does not answer'; tail {folder}/containerd.log; exit 3; fi
  sleep 0.1
done
$ctr images import {folder}/tools.tar
$ctr images import {folder}/pause.tar
{kubelet} --config={folder}/kubelet.yaml --kubeconfig={kubeconfig} --root-dir={folder}/memory/kubelet \\
  --hostname-override={name} --node-ip=127.0.0.1 > {folder}/kubelet.log 2>&1
"""
