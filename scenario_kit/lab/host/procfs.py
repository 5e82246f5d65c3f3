"""Processes of a lab, recognised by an environment variable that all of them inherit.

A process id alone is no identity: it may have been reused, after a reboot at the latest. The variable also finds what a
killed start left behind, so that ``lab down`` leaves nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

MARKER = "SCENARIO_KIT_LAB_FOLDER"
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_STARTING_SECONDS = 1.0


def make_marker(folder: str) -> dict[str, str]:
    """Make the environment that marks a process as belonging to the lab in ``folder``."""
    return {MARKER: folder}


def has_marker(pid: int, mark: dict[str, str]) -> bool:
    """Check whether a live process (no zombie) has the marks in the environment that it was started with."""
    try:
        environment = _read_environment(pid).split(b"\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    return all(f"{key}={value}".encode() in environment for key, value in mark.items())


def _read_environment(pid: int) -> bytes:
    """Read what the process was started with, once it has it.

    Whoever starts a program is told so before the kernel has put its environment in place (execve closes the files that
    are to be closed first), and it reads as empty until then, for as long as others have the processors.
    """
    environ = Path(f"/proc/{pid}/environ")
    deadline = time.monotonic() + _STARTING_SECONDS
    while not (environment := environ.read_bytes()) and _is_starting(pid) and time.monotonic() < deadline:
        time.sleep(0.001)
    return environment or environ.read_bytes()


def _is_starting(pid: int) -> bool:
    """Check whether the process has memory (``vsize``), unlike zombies and the kernel's own threads, but as yet no end
    of its environment (``env_end``).
    """
    fields = _read_stat(pid)
    return fields[23 - 3] != "0" and fields[51 - 3] == "0"


def _read_stat(pid: int) -> list[str]:
    """Read the fields of proc_pid_stat(5) from the third, the state, on: the second, a name, may contain anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def find(mark: dict[str, str]) -> Iterator[int]:
    """Find the ids of all live processes with the marks, other than this one."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid() and has_marker(int(entry.name), mark):
            yield int(entry.name)


def has_ended(pid: int) -> bool:
    """Check whether a process is gone for good, its sockets closed: no entry, or a zombie whose last thread has ended.

    A process that is about to end loses its environment, hence its marks, before its files.
    """
    try:
        return _read_stat(pid)[0] in "ZX" and len(list(Path(f"/proc/{pid}/task").iterdir())) <= 1
    except (FileNotFoundError, ProcessLookupError):
        return True


def read_resident_bytes(pid: int) -> int:
    """Read resident memory of a process in bytes; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except (FileNotFoundError, ProcessLookupError):
        return 0
