"""A real node: containerd and the kubelet in dedicated PID and mount namespaces.

Killing the first process of the namespaces removes every container, shim and mount. ``close`` restores what lies
outside of them: a network bridge, cgroups and IP forwarding.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import yaml

from scenario_kit.errors import LabError
from scenario_kit.lab.host import procfs
from tools.reality.configuration import (
    build_kubelet_configuration,
    build_network,
    find_node_problems,
    find_pod_cgroups,
    format_containerd_configuration,
    remove_cgroup,
)
from tools.reality.image import build_archive

NAME = "real-1"
PAUSE = "docker.io/reality/pause:1"
_APPLETS = ("sh", "sleep", "tail", "test", "mkdir", "echo", "touch", "httpd", "true", "cat")
_BRIDGE = "reality0"
_SUBNET = "10.213.7.0/24"
_FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
#: Folders that kubelet and runtime always use; in the namespace they are covered with tmpfs.
_COVERED = ("/var/lib/cni", "/var/lib/kubelet", "/var/log/pods", "/var/log/containers", "/run/netns")
#: Programs, and the Debian packages that contain them.
NEEDED = {
    "containerd": "containerd",
    "ctr": "containerd",
    "containerd-shim-runc-v2": "containerd",
    "runc": "runc",
    "busybox": "busybox-static",
    "unshare": "util-linux",
    "ip": "iproute2",
}


def find_problems() -> list[str]:
    """Return why a real node cannot run here; empty if it can."""
    found = find_node_problems(NEEDED, "ci/reality")
    if (Path("/sys/class/net") / _BRIDGE).exists():
        found.append(f"the network bridge {_BRIDGE} exists already: ip link delete {_BRIDGE}")
    return found


def put_back(folder: Path) -> None:
    """Restore what a terminated node changed outside of its namespaces, if ``folder`` has a node."""
    noted = folder / "before.json"
    if not noted.exists():
        return
    before = json.loads(noted.read_text())
    if (Path("/sys/class/net") / _BRIDGE).exists():
        subprocess.run(["ip", "link", "delete", _BRIDGE], check=True)
    _FORWARD.write_text(before["forward"])
    for top in find_pod_cgroups():
        remove_cgroup(top)
    for path in before["absent"]:
        with contextlib.suppress(OSError):
            Path(path).rmdir()
    noted.unlink()


class RealNode:
    """Joins the cluster of ``kubeconfig``. ``folder`` must not exist; all files are written there."""

    def __init__(self, folder: Path, kubeconfig: Path, kubelet: Path, port: int) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        absent = [path for path in _COVERED if not Path(path).exists()]
        (folder / "before.json").write_text(json.dumps({"forward": _FORWARD.read_text(), "absent": absent}))
        for name, content in self._build_files(kubeconfig, kubelet, port).items():
            (folder / name).write_text(content)
        busybox = Path(shutil.which("busybox") or "busybox")
        for name, command in (("tools", ["sh"]), ("pause", ["sleep", "2147483647"])):
            (folder / f"{name}.tar").write_bytes(
                build_archive(f"docker.io/reality/{name}:1", busybox, _APPLETS, command)
            )
        with (folder / "node.log").open("ab") as log:
            self._process = subprocess.Popen(
                ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc",
                 "sh", str(folder / "run.sh")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=folder,
                env={**os.environ, **procfs.make_marker(str(folder.parent))},
            )  # fmt: skip

    def check(self) -> None:
        """Raise ``LabError`` if the node's processes have exited."""
        if self._process.poll() is not None:
            tail = "\n".join((self._folder / "node.log").read_text(errors="replace").splitlines()[-12:])
            raise LabError(f"the real node ended with code {self._process.returncode}:\n{tail}")

    def close(self) -> None:
        """Kill the node and restore the state outside of its namespaces."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        put_back(self._folder)

    def _build_files(self, kubeconfig: Path, kubelet: Path, port: int) -> Mapping[str, str]:
        here = self._folder
        (here / "cni").mkdir()
        network = build_network("reality", _BRIDGE, _SUBNET, here / "memory" / "ipam")
        cover = "\n".join(f"mkdir -p {path} && mount -t tmpfs none {path}" for path in _COVERED)
        return {
            "cni/reality.conflist": json.dumps(network),
            "containerd.toml": format_containerd_configuration(here, PAUSE),
            "kubelet.yaml": yaml.safe_dump(build_kubelet_configuration(here, port)),
            "run.sh": _RUN.format(folder=here, cover=cover, kubelet=kubelet, kubeconfig=kubeconfig, name=NAME),
        }


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
