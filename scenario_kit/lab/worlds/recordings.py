"""The recordings of a lab: the recorded trials and their files."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from scenario_kit.errors import LabError
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds.recorder import Recorder
from scenario_kit.model.base import Object
from scenario_kit.ports import Cluster

#: The size of a read; a single line may be longer.
CHUNK_BYTES: Final = 4 << 20


class Recordings:
    """All recordings; thread-safe. A recording is announced before its trial starts, and kept until it is dropped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._announced: set[str] = set()
        self._recorders: dict[str, Recorder] = {}

    def announce(self, trial: str) -> None:
        """Request a recording of a trial's world from its first tick; an earlier recording is deleted.

        Raises:
            LabError: the file cannot be written.
        """
        with self._lock:
            if trial in self._announced:
                return
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._locate(trial).write_bytes(b"")
            except OSError as error:
                raise LabError(f"{error.filename}: {error.strerror}", fix="free some disk space") from error
            self._announced.add(trial)

    def open(self, spec: WorldSpec, store: ObjectStore, cluster: Cluster) -> Recorder | None:
        """Return the recorder of a world; None if no recording was requested."""
        with self._lock:
            if spec.trial not in self._announced:
                return None
            recorder = Recorder(spec, store, cluster, self._locate(spec.trial))
            self._recorders = {**self._recorders, spec.trial: recorder}
            return recorder

    def close(self, trial: str) -> None:
        """Stop recording a closed world; its file stays."""
        with self._lock:
            self._recorders = {name: each for name, each in self._recorders.items() if name != trial}

    def drop(self, trial: str) -> None:
        """Delete a recording; no error if there is none."""
        self.close(trial)
        with self._lock:
            self._announced.discard(trial)
            self._locate(trial).unlink(missing_ok=True)

    def read(self, trial: str, offset: int) -> bytes | None:
        """Read whole lines from ``offset``; empty if there are no more yet, None if there is no recording."""
        try:
            with self._locate(trial).open("rb") as stream:
                stream.seek(offset)
                data = stream.read(CHUNK_BYTES)
                if data and b"\n" not in data:
                    data += stream.readline()
        except FileNotFoundError:
            return None
        return data[: data.rfind(b"\n") + 1]

    def add_lines(self, namespace: str, pod: str, container: str, lines: Iterable[tuple[float, str]]) -> None:
        """Pass log lines to the recorders."""
        if recorders := self._recorders:
            known = list(lines)
            for recorder in recorders.values():
                recorder.add_lines(namespace, pod, container, known)

    def on_event(self, type_: str, kind: str, obj: Object) -> None:
        """Pass an Event to the recorders; a store listener."""
        if type_ == "PASSED":
            for recorder in self._recorders.values():
                recorder.add_event(kind, obj)

    def _locate(self, trial: str) -> Path:
        return self._folder / f"{trial}.jsonl"
