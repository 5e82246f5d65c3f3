"""A clock that moves when it is told to."""

from __future__ import annotations

from collections.abc import Callable


class FakeClock:
    """Implements ``ports.Clock``.

    Args:
        start: seconds since the epoch.
        stride: the most that one wait lets pass; None means all of it.
        passing: called with every instant that a wait reached, for tests that let the world change with time.
    """

    def __init__(
        self, start: float = 0.0, *, stride: float | None = None, passing: Callable[[float], None] | None = None
    ) -> None:
        self._now = start
        self._stride = stride
        self._passing = passing

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._now

    def wait(self, until: float) -> float:
        """Move to ``until``, or one stride towards it; never back."""
        reach = until if self._stride is None else min(until, self._now + self._stride)
        self._now = max(self._now, reach)
        if self._passing:
            self._passing(self._now)
        return self._now
