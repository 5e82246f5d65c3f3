"""A world in real time: it ticks by itself, and Prometheus scrapes what it says."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds.world import TICK_SECONDS, LabWorld, Surroundings, Waited
from scenario_kit.model.runtime.process import SeriesId

_STEP_SECONDS = 0.2


class WallWorld(LabWorld):
    """Its clock is the wall clock. ``tick`` is called on the grid; ``current`` is what it last said."""

    def __init__(self, spec: WorldSpec, around: Surroundings) -> None:
        super().__init__(spec, around)
        self._turn = threading.Lock()
        self._current: Mapping[SeriesId, float] = {}

    @property
    def now(self) -> float:
        """The present."""
        return time.time()

    @property
    def stored(self) -> float:
        """See ``LabWorld``; a scrape may come a whole interval after the tick."""
        return self.now - 2 * TICK_SECONDS

    @property
    def current(self) -> Mapping[SeriesId, float]:
        """The series of the last tick."""
        return self._current

    def tick(self, t: float) -> None:
        """Let the tick pass that ends at ``t``."""
        with self._turn:
            self.run_nodes()
            self._current = self.samples(self.pass_tick(t), t)
            self.record(t)
            self._around.looks.published()

    def wait(self, until: float, *, stride: float | None, seconds: float, go_on: Callable[[], bool]) -> Waited:
        """Settle, and return no earlier than ``until``, but after about ``seconds`` (or ``stride``) at the latest.

        Raises:
            InfrastructureError: the API server failed.
        """
        started = self.now
        reasons = self.settle(seconds, go_on)
        end = min(until, started + seconds, started + (seconds if stride is None else stride))
        while (left := end - self.now) > 0 and go_on():
            time.sleep(min(left, _STEP_SECONDS))
        return Waited(self.now, not reasons, "; ".join(map(str, reasons)))
