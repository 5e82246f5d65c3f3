"""Limits of a program: the kernel's on memory and files, and a watch on processes and the memory of all of them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

#: Seconds between two looks at the processes of a program.
_INTERVAL: Final = 0.1
#: How often processes that appear in the meantime are stopped, too.
_MOST_ROUNDS: Final = 50
_PROC: Final = Path("/proc")
_MIB: Final = 1 << 20
#: Sets the limits of its own process, and becomes the program. Arguments: data, open files, file size, the command.
#: Address space is not limited: runtimes reserve more than they use.
_LAUNCHER: Final = """
import os, resource, sys
wanted = zip((resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE),
             (*map(int, sys.argv[1:4]), 0))
for limit, most in wanted:
    hard = resource.getrlimit(limit)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(limit, (most, most))
try:
    os.execvp(sys.argv[4], sys.argv[4:])
except OSError as error:
    sys.exit(f"{sys.argv[4]}: {error.strerror}")
"""


class ProgramLimits(NamedTuple):
    """What a program may use: MiB of memory, processes, open files of each process, MiB of each file."""

    memory: int = 4096
    processes: int = 512
    open_files: int = 4096
    file_size: int = 1024


#: The limits without options.
DEFAULT_LIMITS: Final = ProgramLimits()


class _Usage(NamedTuple):
    """A process: its parent, and its own memory in bytes."""

    parent: int
    memory: int


def wrap_limited(command: Sequence[str], limits: ProgramLimits) -> list[str]:
    """Return the command line that runs a program with the limits of the kernel."""
    values = (limits.memory * _MIB, limits.open_files, limits.file_size * _MIB)
    return [sys.executable, "-I", "-S", "-c", _LAUNCHER, *map(str, values), *command]


class ProcessWatch:
    """Kills a program whose processes exceed the limits together. Without /proc, nothing is watched."""

    def __init__(self, pid: int, limits: ProgramLimits) -> None:
        self._pid, self._limits = pid, limits
        self._stopped = threading.Event()
        #: Why the program was killed; empty if it was not.
        self.reason = ""
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(_INTERVAL):
            self.reason = self.reason or self._judge(dict(_list_descendants(self._pid)))
            if self.reason:
                self._kill()

    def _judge(self, found: dict[int, _Usage]) -> str:
        memory = sum(each.memory for each in found.values()) // _MIB
        if len(found) > self._limits.processes:
            return f"had {len(found)} processes, more than {self._limits.processes} (--solver-processes)"
        if memory > self._limits.memory:
            return f"used {memory} MiB of memory, more than {self._limits.memory} (--solver-memory)"
        return ""

    def _kill(self) -> None:
        """Kill all processes. They are stopped first, until no other one appears: what has lost its parent is lost."""
        found: set[int] = set()
        for _ in range(_MOST_ROUNDS):
            new = {pid for pid, _ in _list_descendants(self._pid)} - found
            if not new:
                break
            found |= new
            self._signal(signal.SIGSTOP, found)
        self._signal(signal.SIGKILL, found)

    def _signal(self, number: signal.Signals, found: set[int]) -> None:
        """Send a signal to the group at once, so that none of its processes can start another; then to each process."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, number)
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _list_descendants(root: int) -> Iterator[tuple[int, _Usage]]:
    """Yield a process and all below it that still run."""
    known = dict(_list_processes())
    children: dict[int, list[int]] = {}
    for pid, usage in known.items():
        children.setdefault(usage.parent, []).append(pid)
    left = [root]
    while left:
        pid = left.pop()
        left += children.get(pid, ())
        if pid in known:
            yield pid, known[pid]


def _list_processes() -> Iterator[tuple[int, _Usage]]:
    page = os.sysconf("SC_PAGE_SIZE")
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if not folder.name.isdecimal():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            _, resident, shared = (folder / "statm").read_text().split()[:3]
            if state != "Z":
                yield int(folder.name), _Usage(int(parent), (int(resident) - int(shared)) * page)
