"""When a container whose CPU is contended runs: the periods of the kernel's bandwidth control.

Within a container, runnable threads share its CPU. Where they want more than its limit, the kernel stops all of them
once the quota of a period is used up, so everything in it runs in windows. A thread that wakes up has slept, and runs
before threads that never do: at the start of the next window, or within one once the running thread has had its turn.
Linux: Documentation/scheduler/sched-bwc.rst (periods, quota) and sched-eevdf.rst (lag); measurements: docs/fidelity.md.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Floats

#: The period in which the kubelet sets the quota (``cpuCFSQuotaPeriod``).
PERIOD_SECONDS: Final = 0.1
#: The timer tick of a kernel with 250 Hz: a core that runs notices only then that the quota is used up.
TICK_SECONDS: Final = 0.004
#: How long a thread that wakes up waits for the running one: on average half a tick remains of its turn.
_TURN_SECONDS: Final = TICK_SECONDS / 2.0


class CpuWindows(NamedTuple):
    """Windows of ``length`` seconds in which a container runs, one per ``period``, the first of them at ``start``."""

    period: float
    length: float
    start: float = 0.0

    def finish(self, at: Floats, work: Floats | float) -> Floats:
        """Return when work of these CPU seconds ends whose thread runs whenever the container does."""
        if self.length >= self.period:
            return np.asarray(at + work)
        known = np.isfinite(work)
        number, within = np.divmod(at - self.start, self.period)
        ran = np.where(known, np.minimum(within, self.length) + work, 0.0)
        more = np.floor(ran / self.length)
        done = self.start + (number + more) * self.period + (ran - more * self.length)
        return np.where(known, done, np.inf)

    def wake(self, at: Floats) -> Floats:
        """Return when a thread runs that wakes up at these times."""
        turns = self.finish(at, _TURN_SECONDS)
        if self.length >= self.period:
            return turns
        number, within = np.divmod(at - self.start, self.period)
        return np.where(within < self.length, turns, self.start + (number + 1.0) * self.period)

    def run(self, at: Floats, took: Floats) -> Floats:
        """Return how long work that takes ``took`` seconds of CPU takes from ``at`` on, from the thread's waking up."""
        return self.finish(self.wake(at), took) - at

    def resume(self, at: Floats, took: Floats, times: int) -> Floats:
        """Return after how many seconds a caller notices that its calls ended; it wakes up as often as given."""
        took = took.copy()
        known = np.isfinite(took)
        resumed = at[known] + took[known]
        for _ in range(times):
            resumed = self.wake(resumed)
        took[known] = resumed - at[known]
        return took


def open_windows(limit: float, cores: float, busy: float, phase: float) -> CpuWindows:
    """Return the windows of a container with this limit while threads would keep ``busy`` cores of ``cores`` busy.

    Each busy core takes a tick at least before it is stopped, so with a small quota the windows of a core are longer
    and rarer. Without a limit, there is one window that never ends. ``phase`` is the part of a period (0 to 1) that
    has passed at time 0.
    """
    width = min(max(busy, limit), cores)
    period = max(PERIOD_SECONDS, width * TICK_SECONDS / limit)
    length = period * min(limit / width, 1.0)
    return CpuWindows(period, length, -phase * period)
