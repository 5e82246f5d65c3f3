"""The operator of a lab under a fork server, which starts it quickly and notices unexpected exits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.errors import LabError
from scenario_kit.lab.host import procfs
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.process_specs import OPERATOR, list_specs

_POLL_SECONDS: Final = 0.02
_START_SECONDS: Final = 60.0
_ROOT: Final = Path(__file__).resolve().parents[2]


class OperatorProcess:
    """Replaces the operator that the lab started. ``kill`` is thread-safe.

    ``starts`` counts the starts so far; ``ends`` describes each exit that was not caused by ``kill``.
    """

    def __init__(self, lab: str, clock: str = "Wall") -> None:
        self.starts = 0
        self.ends: list[str] = []
        self._lab = lab
        self._killed: set[int] = set()
        self._started = threading.Event()
        state = LabState.load(lab)
        part = state.part(OPERATOR)
        assert part is not None, f"lab {lab} has no operator"
        _kill(part.pid)
        self._pid = 0
        own = list_specs()[OPERATOR](state, {}).environment
        environment = {**os.environ, **own, **procfs.make_marker(state.folder)}
        environment["PYTHONPATH"] = f"{_ROOT}:{own['PYTHONPATH']}"
        with Path(part.log).open("ab") as log:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "tools.crash.fork_server", "--lab", lab, "--clock", clock],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment, text=True,
                start_new_session=True,
            )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._started.wait(_START_SECONDS):
            self.close()
            raise LabError(f"the operator of lab {lab} does not start: see {part.log}")

    @property
    def pid(self) -> int:
        """Process ID of the current operator."""
        return self._pid

    def kill(self) -> None:
        """Kill the operator (SIGKILL); the fork server starts another one."""
        pid = self._pid
        self._killed.add(pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the operator and the fork server."""
        self._killed.add(self._pid)
        with suppress(ProcessLookupError):
            os.killpg(self._server.pid, signal.SIGKILL)
        self._server.wait()
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._reader.join()
        assert self._server.stdout is not None
        self._server.stdout.close()

    def _read(self) -> None:
        assert self._server.stdout is not None
        for line in self._server.stdout:
            word, pid, *status = line.split()
            if word == "started":
                self._pid = int(pid)
                self._register()
                self.starts += 1
                self._started.set()
            elif int(pid) not in self._killed:
                self.ends.append(f"operator {pid} exited unexpectedly, wait status {status[0]}")

    def _register(self) -> None:
        """Record the operator's process in the lab's state."""
        state = LabState.load(self._lab)
        part = state.part(OPERATOR)
        assert part is not None
        state.with_part(msgspec.structs.replace(part, pid=self._pid)).save()


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + _START_SECONDS
    while not procfs.has_ended(pid):
        if time.monotonic() > deadline:
            raise LabError(f"process {pid} does not exit")
        time.sleep(_POLL_SECONDS)
