"""A world in real time: it ticks on its own, and Prometheus scrapes its series."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds.world import TICK_SECONDS, LabContext, LabWorld, WaitResult
from scenario_kit.model.runtime.process import SeriesId

_STEP_SECONDS = 0.2


class WallWorld(LabWorld):
    """A world on the wall clock. ``tick`` is called on the grid; ``current`` has the series of the last tick."""

    def __init__(self, spec: WorldSpec, lab: LabContext) -> None:
        super().__init__(spec, lab)
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
        """Run the tick that ends at ``t``."""
        with self._turn:
            self.run_nodes()
            self._current = self.samples(self.run_tick(t), t)
            self.record(t)
            self._lab.metrics_gate.notify_tick()

    def wait(
        self, until: float, *, stride: float | None, seconds: float, should_continue: Callable[[], bool]
    ) -> WaitResult:
        """Settle, then return at ``until``, or after about ``seconds`` (or ``stride``) if that is earlier.

        Raises:
            InfrastructureError: the API server failed.
        """
        started = self.now
        reasons = self.settle(seconds, should_continue)
        end = min(until, started + seconds, started + (seconds if stride is None else stride))
        while (left := end - self.now) > 0 and should_continue():
            time.sleep(min(left, _STEP_SECONDS))
        return WaitResult(self.now, not reasons, "; ".join(map(str, reasons)))
