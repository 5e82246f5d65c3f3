"""Processes of a lab, recognised by an environment variable that all of them inherit.

A process id alone is no identity: it may have been reused, after a reboot at the latest. The variable also finds what a
killed start left behind, so that ``lab down`` leaves nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MARKER = "SCENARIO_KIT_LAB_FOLDER"
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def marker(folder: str) -> dict[str, str]:
    """The environment that marks a process as belonging to the lab in ``folder``."""
    return {MARKER: folder}


def carries(pid: int, mark: dict[str, str]) -> bool:
    """Whether a live process (no zombie) has the marks in the environment that it was started with."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    return all(f"{key}={value}".encode() in environment for key, value in mark.items())


def find(mark: dict[str, str]) -> Iterator[int]:
    """The ids of all live processes with the marks, other than this one."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid() and carries(int(entry.name), mark):
            yield int(entry.name)


def ended(pid: int) -> bool:
    """Whether a process is gone for good, its sockets closed: no entry, or a zombie whose last thread has ended.

    A process that is about to end loses its environment, hence its marks, before its files.
    """
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state in "ZX" and len(list(Path(f"/proc/{pid}/task").iterdir())) <= 1
    except (FileNotFoundError, ProcessLookupError):
        return True


def resident_bytes(pid: int) -> int:
    """Resident memory of a process in bytes; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except (FileNotFoundError, ProcessLookupError):
        return 0
