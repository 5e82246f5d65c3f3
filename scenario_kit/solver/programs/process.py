"""A program as a solver: messages on stdin and stdout, stderr to a file."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from scenario_kit.errors import UsageError
from scenario_kit.solver.programs.drive import SolverGone, SolverSilent, UnusableLine
from scenario_kit.solver.programs.error_output import ErrorOutput
from scenario_kit.solver.programs.limits import DEFAULT_LIMITS, ProcessWatch, ProgramLimits, wrap_limited
from scenario_kit.solver.protocol.lines import LONGEST_LINE, BadLine, decode_solver_line, encode_line
from scenario_kit.solver.protocol.messages import EndMessage, KitMessage, SolverMessage

#: Grace period in wall seconds for a program to exit after the last message, and after each signal.
_GRACE_SECONDS: Final = 5.0


class ProgramSolver:
    """A process in its own process group, with limits; ``errors`` is the file for its stderr.

    Raises:
        UsageError: the program cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        errors: Path,
        limits: ProgramLimits = DEFAULT_LIMITS,
    ) -> None:
        self._deadline: float | None = None
        self._lines: queue.Queue[bytes] = queue.Queue(maxsize=64)
        if not shutil.which(command[0], path=environment.get("PATH")):
            raise UsageError(f"there is no program {command[0]!r}", fix="pass an installed program to --solver")
        try:
            self._process = subprocess.Popen(
                wrap_limited(command, limits), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                cwd=folder, env=dict(environment), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise UsageError(f"{command[0]}: {error.strerror}", fix="--solver takes a command line") from error
        assert self._process.stdin is not None
        assert self._process.stderr is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._errors = ErrorOutput(self._process.stderr, errors)
        self._watch = ProcessWatch(self._process.pid, limits)
        threading.Thread(target=self._read, daemon=True).start()

    def tell(self, message: KitMessage) -> None:
        """Write a message to the program's stdin. A program that does not read is waited for as long as in ``ask``.

        Raises:
            SolverSilent: it does not read its messages; nothing is raised for the last one.
        """
        ending = isinstance(message, EndMessage)
        deadline = time.monotonic() + _GRACE_SECONDS if ending else self._deadline
        try:
            read = self._write(encode_line(message), deadline)
        except OSError as error:
            if self._lines.empty():
                raise SolverGone(self._explain()) from error
            return
        if not read and not ending:
            raise SolverSilent("the solver did not read its messages before the timeout")

    def _write(self, line: bytes, deadline: float | None) -> bool:
        """Write a line; return False if it could not be written until the deadline."""
        assert self._process.stdin is not None
        pipe, left = self._process.stdin.fileno(), memoryview(line)
        while left:
            patience = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            if not select.select([], [pipe], [], patience)[1]:
                return False
            left = left[os.write(pipe, left) :]
        return True

    def ask(self, patience: float | None) -> SolverMessage | UnusableLine:
        """Read the next message from the program's stdout."""
        self._deadline = None if patience is None else time.monotonic() + patience
        while True:
            try:
                left = None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0)
                line = self._lines.get(timeout=left)
            except queue.Empty:
                raise SolverSilent("the solver sent no message before the timeout") from None
            if not line:
                self._lines.put(b"")
                raise SolverGone(self._explain())
            if not line.strip():
                if left == 0.0:
                    raise SolverSilent("the solver sent no message before the timeout")
                continue
            try:
                return decode_solver_line(line)
            except BadLine as error:
                return UnusableLine(line, error)

    def close(self) -> None:
        """Stop the program and its process group."""
        self._watch.stop()
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
        if self._watch.reason:
            return f"the solver {self._watch.reason}, and was killed"
        tail = self._errors.read_tail(_GRACE_SECONDS)
        return f"the solver {how}" + (f": {tail}" if tail else "")
