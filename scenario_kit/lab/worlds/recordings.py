"""The recordings of a lab: which trials are to be recorded, and the files in which what they show is kept."""

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

#: Bytes that are read at once; a single line may be longer.
CHUNK_BYTES: Final = 4 << 20


class Recordings:
    """Safe to share. A recording is announced before its trial begins, and kept until it is dropped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._announced: set[str] = set()
        self._recorders: dict[str, Recorder] = {}

    def announce(self, trial: str) -> None:
        """Announce that the world of a trial is to be recorded, from its first tick; what an earlier one left is gone.

        Raises:
            LabError: the disk does not take a file.
        """
        with self._lock:
            if trial in self._announced:
                return
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._locate(trial).write_bytes(b"")
            except OSError as error:
                raise LabError(f"{error.filename}: {error.strerror}", fix="make room on the disk") from error
            self._announced.add(trial)

    def open(self, spec: WorldSpec, store: ObjectStore, cluster: Cluster) -> Recorder | None:
        """Open the recorder of a world; None for one that nobody asked to record."""
        with self._lock:
            if spec.trial not in self._announced:
                return None
            recorder = Recorder(spec, store, cluster, self._locate(spec.trial))
            self._recorders = {**self._recorders, spec.trial: recorder}
            return recorder

    def close(self, trial: str) -> None:
        """Stop listening for a world that has ended; its file stays."""
        with self._lock:
            self._recorders = {name: each for name, each in self._recorders.items() if name != trial}

    def drop(self, trial: str) -> None:
        """Drop a recording; one that is gone is fine."""
        self.close(trial)
        with self._lock:
            self._announced.discard(trial)
            self._locate(trial).unlink(missing_ok=True)

    def read(self, trial: str, offset: int) -> bytes | None:
        """Read whole lines from ``offset`` on; empty where there are no more yet, None where there is no recording."""
        try:
            with self._locate(trial).open("rb") as stream:
                stream.seek(offset)
                data = stream.read(CHUNK_BYTES)
                if data and b"\n" not in data:
                    data += stream.readline()
        except FileNotFoundError:
            return None
        return data[: data.rfind(b"\n") + 1]

    def hear_lines(self, namespace: str, pod: str, container: str, lines: Iterable[tuple[float, str]]) -> None:
        """Tell the recorders that a container printed something."""
        if recorders := self._recorders:
            known = list(lines)
            for recorder in recorders.values():
                recorder.hear_lines(namespace, pod, container, known)

    def hear_write(self, type_: str, kind: str, obj: Object) -> None:
        """Tell the recorders of a write; for ``ObjectStore.listen``."""
        if type_ == "PASSED":
            for recorder in self._recorders.values():
                recorder.hear_write(kind, obj)

    def _locate(self, trial: str) -> Path:
        return self._folder / f"{trial}.jsonl"
