"""Processes of a lab, identified by an environment variable that all of them inherit.

A process ID alone is not enough: it may be reused, at the latest after a reboot. The variable also finds processes of
an aborted start, so that ``lab down`` leaves nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

MARKER = "SCENARIO_KIT_LAB_FOLDER"
#: Tell a program in a pod which cluster it belongs to: components of a lab in a pod would join that one.
_SURROUNDING_CLUSTER = frozenset({"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"})
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_STARTING_SECONDS = 1.0


def make_marker(folder: str) -> dict[str, str]:
    """Return the environment variable that marks a process as part of the lab in ``folder``."""
    return {MARKER: folder}


def build_environment(folder: str, own: Mapping[str, str]) -> dict[str, str]:
    """Build the environment of a process of the lab in ``folder``: this one's, and the process's ``own`` variables."""
    inherited = {name: value for name, value in os.environ.items() if name not in _SURROUNDING_CLUSTER}
    return {**inherited, **own, **make_marker(folder)}


def has_marker(pid: int, mark: dict[str, str]) -> bool:
    """Return whether a live process (not a zombie) was started with the marker."""
    try:
        environment = _read_environment(pid).split(b"\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    return all(f"{key}={value}".encode() in environment for key, value in mark.items())


def _read_environment(pid: int) -> bytes:
    """Read the initial environment of a process, once it is available.

    The parent continues before the kernel has set up the environment (execve first closes close-on-exec files). Until
    then it reads as empty, for as long as other processes have the CPU.
    """
    environ = Path(f"/proc/{pid}/environ")
    deadline = time.monotonic() + _STARTING_SECONDS
    while not (environment := environ.read_bytes()) and _is_starting(pid) and time.monotonic() < deadline:
        time.sleep(0.001)
    return environment or environ.read_bytes()


def _is_starting(pid: int) -> bool:
    """Return whether the process has memory (``vsize``), unlike zombies and kernel threads, but no environment yet
    (``env_end``).
    """
    fields = _read_stat(pid)
    return fields[23 - 3] != "0" and fields[51 - 3] == "0"


def _read_stat(pid: int) -> list[str]:
    """Read the fields of proc_pid_stat(5) from the third (state) on: the second, a name, may contain anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def find(mark: dict[str, str]) -> Iterator[int]:
    """Yield the IDs of all other live processes with the marker."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid() and has_marker(int(entry.name), mark):
            yield int(entry.name)


def has_ended(pid: int) -> bool:
    """Return whether a process has ended and its sockets are closed: no entry, or a zombie without other threads.

    An exiting process loses its environment, and with it the marker, before its files are closed.
    """
    try:
        return _read_stat(pid)[0] in "ZX" and len(list(Path(f"/proc/{pid}/task").iterdir())) <= 1
    except (FileNotFoundError, ProcessLookupError):
        return True


def read_resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if it is gone."""
    return _read_memory(pid)[0]


def read_anonymous_bytes(pid: int) -> int:
    """Return a process's own memory in bytes, without the pages of files that it maps; 0 if it is gone."""
    resident, shared = _read_memory(pid)
    return resident - shared


def _read_memory(pid: int) -> tuple[int, int]:
    """Read the resident memory of a process and the part of it that belongs to files, in bytes (proc_pid_statm(5))."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0
    return int(fields[1]) * _PAGE_BYTES, int(fields[2]) * _PAGE_BYTES


def holds_connection(pid: int, own_port: int, peer_port: int) -> bool:
    """Return whether a process holds the end of a TCP connection of this machine that has ``own_port``."""
    inodes = {f"socket:[{inode}]" for inode in _list_connections(own_port, peer_port)}
    if not inodes:
        return False
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False
    for descriptor in descriptors:
        try:
            if str(descriptor.readlink()) in inodes:
                return True
        except OSError:
            continue  # closed in the meantime
    return False


def _list_connections(own_port: int, peer_port: int) -> Iterator[str]:
    """Yield the inodes of sockets with these ports, by proc_pid_net(5)."""
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            own, peer = (int(fields[i].rpartition(":")[2], 16) for i in (1, 2))
            if (own, peer) == (own_port, peer_port):
                yield fields[9]
