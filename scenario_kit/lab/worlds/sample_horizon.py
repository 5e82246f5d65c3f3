"""Keep worlds that run in the same namespace, one after another, apart in virtual time.

A live scenario always uses its app's own namespace. If a second one started at the epoch too, its samples would have
the timestamps of the first one's, and Prometheus keeps only one sample per series and timestamp.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

from scenario_kit.errors import LabError
from scenario_kit.model.grid import GRID_SECONDS

#: Seconds between the end of a world and the start of the next in its namespace: longer than any rule's range.
GAP = 1800.0
#: Virtual seconds reserved for a world: none starts closer to the present than this.
_ROOM = 4 * 3600.0
_GRID = float(GRID_SECONDS)


class SampleHorizon:
    """The latest sample time of each namespace, persisted in ``file``: Prometheus outlives the lab server."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._reached: dict[str, float] = json.loads(file.read_text()) if file is not None and file.exists() else {}

    def compute_start(self, namespace: str, epoch: float) -> float:
        """Return the start time of a new world: the epoch, or a gap after the namespace's latest sample.

        Raises:
            LabError: no virtual time is left between the epoch and the present.
        """
        with self._lock:
            reached = self._reached.get(namespace)
        start = epoch if reached is None else (reached + GAP) // _GRID * _GRID
        if start > time.time() - _ROOM:
            raise LabError(
                f"the virtual time of namespace {namespace} is used up: too many worlds ran in it",
                fix="scenario-kit lab down, then scenario-kit lab up",
            )
        return start

    def record(self, namespace: str, now: float) -> None:
        """Record that the namespace has samples up to ``now``."""
        with self._lock:
            self._reached[namespace] = max(now, self._reached.get(namespace, now))
            if self._file is not None:
                temporary = self._file.with_suffix(".new")
                temporary.write_text(json.dumps(self._reached))
                temporary.replace(self._file)
