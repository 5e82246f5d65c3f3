"""Isolation of a run in separate network, mount and PID namespaces.

The namespaces are the clean-up: when the first process ends, the kernel kills all others and removes interfaces,
addresses, packet filters and mounts, none of which existed in the machine's own namespaces. Outside are only one folder
and the cgroups of pods, which the caller or the next run removes.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from scenario_kit.errors import LabError
from tools.reality.configuration import find_pod_cgroups, remove_cgroup

#: Set within the namespaces: the folder of the run.
VARIABLE: Final = "SCENARIO_KIT_REAL_NODE"
#: The node's address, in a network that exists during the run only and has no uplink.
ADDRESS: Final = "10.213.9.1"
_GATEWAY: Final = "10.213.9.254"
_LINK: Final = "uplink0"
#: Folders that kubelet and runtime write to regardless of configuration; covered by a tmpfs.
_COVERED: Final = (
    "/var/lib/cni",
    "/var/lib/kubelet",
    "/var/log/pods",
    "/var/log/containers",
    "/run/netns",
    "/run/containerd",
)
_ABSENT: Final = "absent.json"
_END_SECONDS: Final = 30.0
#: The first process: a shell that reaps orphaned processes of containers, so it must not exec the command.
_INIT: Final = '"$@"; exit $?'


def locate_folder() -> Path:
    """Return the folder of a run; its path is short, since it contains sockets."""
    return Path(tempfile.gettempdir()) / "scenario-kit-real-node"


def find_folder() -> Path | None:
    """Return the folder of the surrounding run; None outside of one."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def run_isolated(command: Sequence[str], folder: Path) -> int:
    """Run a program in new namespaces until it ends, and return its exit code.

    If this process ends, by Ctrl-C, SIGTERM or SIGKILL, so do all others.
    """

    def end(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--propagation", "private", "--pid", "--fork",
         "--kill-child", "--mount-proc", "sh", "-c", _INIT, "init", *command],
        env={**os.environ, VARIABLE: str(folder)},
        start_new_session=True,
    )  # fmt: skip
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def remove_leftovers(folder: Path) -> None:
    """Remove the leftovers of an ended run outside of its namespaces, if any.

    Raises:
        LabError: cgroups or files are still in use.
    """
    if not folder.exists():
        return
    end = time.monotonic() + _END_SECONDS
    while True:
        try:
            for top in find_pod_cgroups():
                remove_cgroup(top)
            _remove_mount_points(folder / _ABSENT)
            shutil.rmtree(folder)
        except OSError as error:
            if time.monotonic() > end:
                raise LabError(
                    f"an earlier run is still there: {error}", fix=f"end it, then remove {folder}"
                ) from error
            time.sleep(0.2)
        else:
            return


def _remove_mount_points(noted: Path) -> None:
    """Remove the mount points that were created, unless they are in use."""
    for path in json.loads(noted.read_text()) if noted.exists() else ():
        with contextlib.suppress(OSError):
            Path(path).rmdir()


def set_up_network() -> None:
    """Set up the network of the new namespace: the node's address, a default route that leads nowhere, forwarding."""
    for words in (
        ["link", "set", "lo", "up"],
        ["link", "add", _LINK, "type", "bridge"],
        ["address", "add", f"{ADDRESS}/24", "dev", _LINK],
        ["link", "set", _LINK, "up"],
        ["route", "add", "default", "via", _GATEWAY],
    ):
        _run(["ip", *words])
    for switch in ("net/ipv4/ip_forward", "net/bridge/bridge-nf-call-iptables"):
        path = Path("/proc/sys") / switch
        if path.exists():
            path.write_text("1")


def mount_over_folders(folder: Path) -> None:
    """Cover folders of the machine with memory, in this mount namespace only, and put the run's own there, too.

    Those that are not there are made, and noted for whoever cleans up.
    """
    (folder / _ABSENT).write_text(json.dumps([path for path in _COVERED if not Path(path).exists()]))
    for path in _COVERED:
        Path(path).mkdir(parents=True, exist_ok=True)
        _run(["mount", "-t", "tmpfs", "none", path])
    (folder / "memory").mkdir()
    _run(["mount", "-t", "tmpfs", "none", str(folder / "memory")])


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"{' '.join(command)}: {done.stderr.strip()}")
