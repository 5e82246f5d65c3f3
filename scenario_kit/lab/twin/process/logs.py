"""Container logs: routine output of healthy programs, and errors."""

from __future__ import annotations

from collections import defaultdict

from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.model.runtime.process import LogRecord

#: The maximum number of lines of one kind per container and tick.
ERRORS_PER_TICK = 4
CHATTER_PER_TICK = 2


class LogBuffer:
    """The log lines of one tick."""

    def __init__(self) -> None:
        self._lines: list[LogRecord] = []
        self._counts: defaultdict[tuple[str, str, str], int] = defaultdict(int)

    def error(self, process: Process, kind: str, times: Floats, text: str) -> None:
        """Print ``text`` at (some of) these times. ``kind`` is the key of the limit."""
        self._print(process, kind, times, text, ERRORS_PER_TICK)

    def chatter(self, process: Process, kind: str, times: Floats, text: str) -> None:
        """Print routine lines; as ``error``, with a lower limit."""
        self._print(process, kind, times, text, CHATTER_PER_TICK)

    def line(self, process: Process, t: float, text: str) -> None:
        """Print one line."""
        self._lines.append(LogRecord(process.name, process.key.container, t, text))

    def take(self) -> list[LogRecord]:
        """Return the lines in order of time, and clear the buffer."""
        lines = sorted(self._lines, key=lambda record: record.t)
        self._lines = []
        self._counts.clear()
        return lines

    def _print(self, process: Process, kind: str, times: Floats, text: str, limit: int) -> None:
        if not text:
            return
        key = (process.key.pod_uid, process.key.container, kind)
        room = limit - self._counts[key]
        for t in times[: max(room, 0)].tolist():
            self._counts[key] += 1
            self._lines.append(LogRecord(process.name, process.key.container, t, text))
