"""How far the samples of each namespace reach in virtual time, so that no two worlds write to the same instants.

A live scenario always runs in its app's own namespace. Were a second one to start at the epoch again, its series would
mix with those of the first, and Prometheus keeps either of two samples at one instant.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

from scenario_kit.errors import LabError
from scenario_kit.model.grid import GRID_SECONDS

#: Seconds between the end of a world and the start of the next in its namespace: no rule looks back that far.
GAP = 1800.0
#: Seconds that a world may need: one that would get closer to the present than this is not begun.
_ROOM = 4 * 3600.0
_GRID = float(GRID_SECONDS)


class Past:
    """Remembers in a file, if it is given one: Prometheus outlives the lab server."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._reached: dict[str, float] = json.loads(file.read_text()) if file is not None and file.exists() else {}

    def start_of(self, namespace: str, epoch: float) -> float:
        """Start where a new world of the namespace starts: the epoch, or a gap after what is there.

        Raises:
            LabError: the time between the epoch and the present is used up.
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

    def reached(self, namespace: str, now: float) -> None:
        """Record up to when there are samples of the namespace."""
        with self._lock:
            self._reached[namespace] = max(now, self._reached.get(namespace, now))
            if self._file is not None:
                temporary = self._file.with_suffix(".new")
                temporary.write_text(json.dumps(self._reached))
                temporary.replace(self._file)
