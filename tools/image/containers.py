"""Containers of an image on this machine: a dedicated containerd, with the hardening that a Pod would request.

It runs in dedicated PID and mount namespaces: killing their first process removes every container, shim and mount.
container, shim and mount goes with it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from scenario_kit.errors import ToolchainError

#: Programs, and the Debian packages that contain them.
NEEDED: Final = {
    "containerd": "containerd",
    "ctr": "containerd",
    "containerd-shim-runc-v2": "containerd",
    "runc": "runc",
    "unshare": "util-linux",
    "nsenter": "util-linux",
}
#: Capabilities that containerd grants by default.
_CAPABILITIES: Final = (
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW",
    "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
)  # fmt: skip
_START_SECONDS: Final = 30.0
_CONFIGURATION: Final = """version = 2
root = "{folder}/memory/root"
state = "{folder}/memory/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.grpc.v1.nri", "io.containerd.internal.v1.tracing"]
[grpc]
  address = "{folder}/containerd.sock"
"""
_START: Final = """set -e
mkdir {folder}/memory && mount -t tmpfs none {folder}/memory
exec containerd --config {folder}/containerd.toml
"""


def find_problems() -> list[str]:
    """Return why containers cannot run here; empty if they can."""
    found = []
    if os.geteuid() != 0:
        found.append("containerd needs root")
    if missing := sorted({package for program, package in NEEDED.items() if shutil.which(program) is None}):
        found.append(f"programs are missing: apt-get install --no-install-recommends {' '.join(missing)}")
    return found


class PrivateContainerd:
    """A containerd with its files in ``folder``, whose path must be short because it contains a socket."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ctr = ["ctr", "--address", str(folder / "containerd.sock")]
        (folder / "containerd.toml").write_text(_CONFIGURATION.format(folder=folder))
        (folder / "start.sh").write_text(_START.format(folder=folder))
        with (folder / "containerd.log").open("wb") as log:
            self._process = subprocess.Popen(
                ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc",
                 "sh", str(folder / "start.sh")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def __enter__(self) -> Self:
        """Wait until containerd responds.

        Raises:
            ToolchainError: it does not start.
        """
        end = time.monotonic() + _START_SECONDS
        while subprocess.run([*self._ctr, "version"], capture_output=True, check=False).returncode:
            if self._process.poll() is not None or time.monotonic() > end:
                self.close()
                tail = (self._folder / "containerd.log").read_text(errors="replace")[-800:]
                raise ToolchainError(f"containerd does not start here: {tail}")
            time.sleep(0.1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill containerd and its containers."""
        self.close()

    def close(self) -> None:
        """Kill containerd and its containers."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def load(self, archive: Path) -> dict[str, str]:
        """Load an archive; returns the digest of each image by name.

        Raises:
            ToolchainError: containerd rejects it.
        """
        self._ask("images", "import", str(archive))
        return dict(re.findall(r"^(\S+)\s+\S+\s+(sha256:[0-9a-f]{64})\s", self._ask("images", "ls"), re.MULTILINE))

    def start(
        self,
        image: str,
        name: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        mounts: Mapping[str, Path],
    ) -> subprocess.Popen[str]:
        """Start a container in the host network, with a read-only root, no capabilities and seccomp.

        Args:
            arguments: replace the image's entrypoint and arguments, as with ``ctr``.
            mounts: host folders by path in the container, mounted read-only.
        """
        # ``ctr`` briefly mounts the image to look up its user, which only works in containerd's mount namespace.
        where = ["nsenter", "--target", str(self._find_first()), "--mount", "--pid"]
        command = [*where, *self._ctr, "run", "--rm", "--read-only", "--net-host", "--seccomp"]
        command += ["--fifo-dir", str(self._folder / "fifo"), "--runc-root", str(self._folder / "memory" / "runc")]
        command += [part for each in _CAPABILITIES for part in ("--cap-drop", f"CAP_{each}")]
        command += [part for key, value in environment.items() for part in ("--env", f"{key}={value}")]
        for target, source in mounts.items():
            command += ["--mount", f"type=bind,src={source},dst={target},options=rbind:ro"]
        return subprocess.Popen(
            [*command, image, name, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def find_process(self, name: str) -> int:
        """Return the host process ID of a container.

        Raises:
            ToolchainError: there is no such container, or it has exited.
        """
        inside = re.findall(rf"^{re.escape(name)}\s+(\d+)\s+RUNNING", self._ask("tasks", "ls"), re.MULTILINE)
        if not inside:
            raise ToolchainError(f"the container {name} is not running")
        for process in _list_descendants([self._find_first()]):
            if _read_inner_number(process) == inside[0]:
                return process
        raise ToolchainError(f"the process of the container {name} was not found")

    def end(self, name: str) -> None:
        """Send SIGTERM to a container, as a kubelet would."""
        self._ask("tasks", "kill", "--signal", "SIGTERM", name)

    def _find_first(self) -> int:
        """Return the process ID of containerd, the first process of its namespace."""
        return _list_children(self._process.pid)[0]

    def _ask(self, *arguments: str) -> str:
        done = subprocess.run([*self._ctr, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolchainError(f"ctr {arguments[0]} {arguments[1]}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout


def _list_children(process: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _list_descendants(processes: Sequence[int]) -> list[int]:
    found, left = [], list(processes)
    while left:
        found.append(left.pop())
        try:
            left += _list_children(found[-1])
        except OSError:  # it has just exited
            continue
    return found


def _read_inner_number(process: int) -> str:
    """Read a process's ID in containerd's namespace: the second one of ``NSpid``."""
    match = re.search(r"^NSpid:\s+\d+\s+(\d+)", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    return match[1] if match else ""
