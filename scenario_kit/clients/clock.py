"""The wall clock of this machine, for the ``Clock`` port."""

from __future__ import annotations

import time
from typing import ClassVar, Final

from scenario_kit.errors import InfrastructureError

#: The tolerance in seconds for clock jumps and long sleeps: corrections and load stay below it.
_JUMP: Final = 30.0


class WallClock:
    """Implements ``ports.Clock``: time advances by itself, a wait sleeps.

    If the machine is suspended, the process stopped or the clock set, time passes without observation, and a deadline
    may pass with it. The next wait raises once, so that no scenario is blamed.
    """

    #: The maximum duration of one wait in seconds, so that callers can check their state.
    STRIDE: ClassVar = 5.0

    def __init__(self) -> None:
        self._apart = _measure_drift()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def wait(self, until: float) -> float:
        """Sleep until then, a few seconds at most; return the time reached.

        Raises:
            InfrastructureError: the clock jumped, or the process was stopped. A repeated wait continues.
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
    """Return the difference of the wall clock and the monotonic clock, which cannot be set and stops during suspend."""
    return time.time() - time.monotonic()
