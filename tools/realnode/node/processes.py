"""The processes of a run with their logs, and detection of the first one that ends."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scenario_kit.errors import LabError
from scenario_kit.lab.host.state import read_log_tail

_POLL_SECONDS = 0.3


class RunningProcesses:
    """Processes that have to go on until the run is over; the namespace ends them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start a process, with its output in a log."""
        log = self.locate_log(name)
        log.parent.mkdir(exist_ok=True)
        with log.open("ab") as output:
            self._processes[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                env={**os.environ, **(environment or {})}, cwd=self._folder,
            )  # fmt: skip

    def locate_log(self, name: str) -> Path:
        """Locate the log of one."""
        return self._folder / "logs" / f"{name}.log"

    def check(self) -> None:
        """Check that all of them run.

        Raises:
            LabError: one has ended; the message has the end of its log.
        """
        for name, process in self._processes.items():
            if process.poll() is not None:
                tail = read_log_tail(str(self.locate_log(name)), 12)
                raise LabError(f"{name} ended with code {process.returncode}:\n{tail}")

    def wait(self, seen: Callable[[], object], seconds: float, what: Callable[[], str]) -> None:
        """Wait until something is seen.

        Raises:
            LabError: it is not seen in time, or a process has ended meanwhile.
        """
        end = time.monotonic() + seconds
        while not seen():
            self.check()
            if time.monotonic() > end:
                raise LabError(f"after {seconds:.0f} s: {what()}; logs: {self._folder / 'logs'}")
            time.sleep(_POLL_SECONDS)
