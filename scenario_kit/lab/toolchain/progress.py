"""Progress of an installation: bars on a terminal, otherwise plain lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


class Reporter(Protocol):
    """Reports the progress of components, some of them at the same time. ``total`` is 0 while unknown."""

    def begin(self, part: str, how: str) -> None:
        """Start ``part``; ``how`` is the method."""

    def advance(self, part: str, done: int, total: int, note: str) -> None:
        """Report ``done`` of ``total`` steps (packages or bytes); ``note`` is the current one."""

    def end(self, part: str, how: str) -> None:
        """Finish ``part``; ``how`` is the method."""

    def say(self, text: str) -> None:
        """Print any other message."""


class Lines:
    """Print a line when a component starts, when it is finished, and every ``interval`` seconds in between."""

    def __init__(self, stream: TextIO, *, interval: float = 30.0) -> None:
        self._stream = stream
        self._interval = interval
        self._started: dict[str, float] = {}
        self._spoken: dict[str, float] = {}

    def begin(self, part: str, how: str) -> None:
        """See ``Reporter``."""
        self._started[part] = self._spoken[part] = time.monotonic()
        self.say(f"{part}: {how}")

    def advance(self, part: str, done: int, total: int, note: str) -> None:
        """See ``Reporter``."""
        now = time.monotonic()
        if now - self._spoken[part] >= self._interval:
            self._spoken[part] = now
            share = f"{done} of {total}" if total else str(done)
            self.say(f"{part}: {share}, {now - self._started[part]:.0f} s, {note}")

    def end(self, part: str, how: str) -> None:
        """See ``Reporter``."""
        self.say(f"{part}: {how} ({time.monotonic() - self._started[part]:.0f} s)")

    def say(self, text: str) -> None:
        """See ``Reporter``."""
        print(text, file=self._stream, flush=True)


class Bars:
    """Show a bar with elapsed time per component; a context manager, since the terminal is redrawn while it is open."""

    def __init__(self, console: Console) -> None:
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description:<24}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", style="dim"),
            console=console,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.stop()

    def begin(self, part: str, how: str) -> None:
        """See ``Reporter``."""
        self._bars.start()
        if part in self._tasks:
            self._bars.reset(self._tasks[part], total=None, note=how)
        else:
            self._tasks[part] = self._bars.add_task(part, total=None, note=how)

    def advance(self, part: str, done: int, total: int, note: str) -> None:
        """See ``Reporter``."""
        self._bars.update(self._tasks[part], completed=done, total=total or None, note=note[-48:])

    def end(self, part: str, how: str) -> None:
        """See ``Reporter``."""
        task = self._tasks[part]
        total = self._bars.tasks[self._bars.task_ids.index(task)].total or 1
        self._bars.update(task, completed=total, total=total, note=how)
        self._bars.stop_task(task)

    def say(self, text: str) -> None:
        """See ``Reporter``."""
        self._bars.console.print(text)


@contextmanager
def report_on_stderr() -> Iterator[Reporter]:
    """Report with bars if stderr is a terminal, otherwise with lines."""
    console = Console(stderr=True)
    if console.is_terminal and not console.is_dumb_terminal:
        with Bars(console) as bars:
            yield bars
    else:
        yield Lines(sys.stderr)
