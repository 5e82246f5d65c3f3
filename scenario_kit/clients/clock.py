"""The wall clock of this machine, behind the ``Clock`` port."""

from __future__ import annotations

import time
from typing import ClassVar, Final

from scenario_kit.errors import InfrastructureError

#: Seconds that a clock may be set by, or a sleep may be too long, before it counts: corrections and load stay below.
_JUMP: Final = 30.0


class WallClock:
    """Implements ``ports.Clock``: time moves by itself, waiting is sleeping.

    A machine that sleeps, a process that is stopped and a clock that is set let time pass in which nothing was seen,
    and perhaps a deadline with it. Whoever waits is told, once, so that it is not blamed on a scenario.
    """

    #: One wait sleeps this long at most, in seconds, so that its caller can look around.
    STRIDE: ClassVar = 5.0

    def __init__(self) -> None:
        self._apart = _measure_drift()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def wait(self, until: float) -> float:
        """Sleep until then, but for a few seconds at most; the time reached.

        Raises:
            InfrastructureError: the clock jumped, or nothing ran for a while. Waiting again goes on from there.
        """
        span, began = max(0.0, min(until - time.time(), self.STRIDE)), time.monotonic()
        time.sleep(span)
        jumped, overslept = _measure_drift() - self._apart, time.monotonic() - began - span
        self._apart += jumped
        if abs(jumped) > _JUMP:
            raise InfrastructureError(f"the clock jumped by {jumped:+.0f} s: it was set, or the machine was asleep")
        if overslept > _JUMP:
            raise InfrastructureError(f"nothing ran for {overslept:.0f} s: the process was stopped")
        return time.time()


def _measure_drift() -> float:
    """Measure what the wall clock shows more than the monotonic one, which nobody can set and which stops while one
    sleeps.
    """
    return time.time() - time.monotonic()
