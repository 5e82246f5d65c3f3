"""A clock that advances on demand."""

from __future__ import annotations

from collections.abc import Callable


class FakeClock:
    """Implements ``ports.Clock``.

    Args:
        start: seconds since the epoch.
        stride: the maximum advance of one wait; None for no limit.
        on_advance: called with the new time after each wait, so that tests can change the cluster over time.
    """

    def __init__(
        self, start: float = 0.0, *, stride: float | None = None, on_advance: Callable[[float], None] | None = None
    ) -> None:
        self._now = start
        self._stride = stride
        self._on_advance = on_advance

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._now

    def wait(self, until: float) -> float:
        """Advance to ``until``, or one stride towards it; never backwards."""
        reach = until if self._stride is None else min(until, self._now + self._stride)
        self._now = max(self._now, reach)
        if self._on_advance:
            self._on_advance(self._now)
        return self._now
