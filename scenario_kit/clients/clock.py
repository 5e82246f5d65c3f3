"""The wall clock of this machine, behind the ``Clock`` port."""

from __future__ import annotations

import time
from typing import Final

#: One wait sleeps this long at most, so that its caller can look around.
_STRIDE: Final = 5.0


class WallClock:
    """Implements ``ports.Clock``: time moves by itself, waiting is sleeping."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def wait(self, until: float) -> float:
        """Sleep until then, but for a few seconds at most; the time reached."""
        time.sleep(max(0.0, min(until - time.time(), _STRIDE)))
        return time.time()
