"""A program as a solver: messages on stdin and stdout, stderr to a file."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from scenario_kit.errors import UsageError
from scenario_kit.solver.programs.drive import SolverGone, SolverSilent, UnusableLine
from scenario_kit.solver.protocol.lines import LONGEST_LINE, BadLine, decode_solver_line, encode_line
from scenario_kit.solver.protocol.messages import KitMessage, SolverMessage

#: Grace period in wall seconds for a program to exit after the last message, and after each signal.
_GRACE_SECONDS: Final = 5.0
_TAIL: Final = 500


class ProgramSolver:
    """A process in its own process group; ``errors`` is the file for its stderr.

    Raises:
        UsageError: the program cannot be started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path, errors: Path) -> None:
        self._errors = errors
        self._lines: queue.Queue[bytes] = queue.Queue(maxsize=64)
        if not shutil.which(command[0], path=environment.get("PATH")):
            raise UsageError(f"there is no program {command[0]!r}", fix="pass an installed program to --solver")
        try:
            with errors.open("wb") as stderr:
                self._process = subprocess.Popen(
                    list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                    cwd=folder, env=dict(environment), start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise UsageError(f"{command[0]}: {error.strerror}", fix="--solver takes a command line") from error
        threading.Thread(target=self._read, daemon=True).start()

    def tell(self, message: KitMessage) -> None:
        """Write a message to the program's stdin."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(encode_line(message))
            self._process.stdin.flush()
        except OSError as error:
            if self._lines.empty():
                raise SolverGone(self._explain()) from error

    def ask(self, patience: float | None) -> SolverMessage | UnusableLine:
        """Read the next message from the program's stdout."""
        while True:
            try:
                line = self._lines.get(timeout=patience)
            except queue.Empty:
                raise SolverSilent("the solver sent no message before the timeout") from None
            if not line:
                self._lines.put(b"")
                raise SolverGone(self._explain())
            if not line.strip():
                continue
            try:
                return decode_solver_line(line)
            except BadLine as problem:
                return UnusableLine(line, problem)

    def close(self) -> None:
        """Stop the program and its process group."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_SECONDS)
        for number in (signal.SIGTERM, signal.SIGKILL):  # both, since children may outlive the program
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_SECONDS)
        with contextlib.suppress(queue.Empty):  # unblock the reader
            while True:
                self._lines.get_nowait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while line := self._process.stdout.readline(LONGEST_LINE + 1):
                self._lines.put(line)
        self._lines.put(b"")

    def _explain(self) -> str:
        try:
            code = self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return "the solver closed its output"
        how = f"was killed by signal {-code}" if code < 0 else f"exited with exit code {code}"
        tail = self._errors.read_bytes()[-_TAIL:].decode(errors="replace").strip()
        return f"the solver {how}" + (f": {tail}" if tail else "")
