"""A recorder that observes an app every 15 s during its incident, and writes the observations to a file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.errors import ClusterError, InfrastructureError, ScenarioKitError, Unreachable
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.runtime.recording import RecordedTick
from scenario_kit.snapshot.live.observer import ClusterObserver

#: Consecutive failed reads after which the recording fails: two minutes.
PATIENCE: Final = 8


class LiveRecorder:
    """Records an app in a thread, from ``start`` to ``stop``, with times of ``now``.

    ``find`` returns the observer, or None until the app is known.
    """

    def __init__(self, find: Callable[[], ClusterObserver | None], file: Path, now: Callable[[], float]) -> None:
        self._find = find
        self._file = file
        self._now = now
        self._observer: ClusterObserver | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="recorder")
        self._silent = 0
        #: Number of failed reads, which the next one makes up for.
        self.missed = 0
        self.problem = ""

    def start(self) -> None:
        """Start recording."""
        self._file.write_bytes(b"")
        self._thread.start()

    def stop(self) -> None:
        """Stop recording; no effect if it has stopped."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def finish(self) -> None:
        """Stop recording, and read the remaining traces.

        Raises:
            InfrastructureError: the recording failed at some time, or never began.
        """
        self.stop()
        observer = self._observer
        if not self.problem and observer is not None:
            self._guard(lambda: self._append(observer.finish(self._now())))
        if self.problem or self._observer is None:
            reason = self.problem or "there was nothing to observe"
            raise InfrastructureError(f"the app could not be recorded: {reason}", fix="run the same command again")

    def list_problems(self) -> list[str]:
        """Return the reason why the recording failed; empty if it has not."""
        return [f"the recording failed: {self.problem}"] if self.problem else []

    def read_ticks(self) -> Iterator[RecordedTick]:
        """Read the recorded ticks in order."""
        decoder = msgspec.json.Decoder(RecordedTick)
        with self._file.open("rb") as stream:
            for line in stream:
                yield decoder.decode(line)

    def _run(self) -> None:
        try:
            ended = False
            while not ended:
                self.look()
                now = self._now()
                ended = bool(self.problem) or self._stopped.wait((now // GRID_SECONDS + 1) * GRID_SECONDS - now)
        except Exception as error:  # noqa: BLE001 - a recording that ended early must not pass for a whole one
            self.problem = f"{type(error).__name__}: {error}"

    def look(self) -> None:
        """Look once."""
        self._guard(self._observe)

    def _observe(self) -> None:
        if self._observer is None:
            self._observer = self._find()
            if self._observer is None:
                return
            self._observer.begin(self._now())
        self._append(self._observer.observe(self._now()))

    def _guard(self, act: Callable[[], None]) -> None:
        """Act; an answer that did not come may come the next time, a refusal stays one."""
        try:
            act()
        except Unreachable as error:
            self._count(str(error))
        except ClusterError as error:
            self.problem = str(error)
        except InfrastructureError as error:
            self._count(str(error))
        except (ScenarioKitError, OSError) as error:
            self.problem = str(error)
        else:
            self._silent = 0

    def _count(self, text: str) -> None:
        self._silent += 1
        self.missed += 1
        if self._silent > PATIENCE or self._stopped.is_set():
            self.problem = text

    def _append(self, tick: RecordedTick) -> None:
        with self._file.open("ab") as stream:
            stream.write(tick.to_bytes() + b"\n")
