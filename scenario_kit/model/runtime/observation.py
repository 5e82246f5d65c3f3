"""What was measured, with times and gaps. Times are seconds since the epoch, on the trial's clock."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value

Answer = Literal["True", "False", "Unknown"]


class Interval(Value, frozen=True, kw_only=True):
    """From ``start`` on; ``end`` None means it had not ended when looking stopped."""

    start: float
    end: float | None = None


class AlertTimeline(Value, frozen=True, kw_only=True):
    """One alert on one entity: when it was pending and when it fired. ``entity`` is a reference, or empty."""

    name: str
    entity: str = ""
    labels: dict[str, str] = {}
    pending: tuple[Interval, ...] = ()
    firing: tuple[Interval, ...] = ()

    def onset(self, after: float) -> float | None:
        """Return the first instant at or after ``after`` at which it fires; firing that began before counts from
        ``after``.
        """
        for interval in self.firing:
            if interval.end is None or interval.end > after:
                return max(interval.start, after)
        return None

    def firing_at(self, instant: float) -> bool:
        """Return whether it fires at that instant."""
        return any(i.start <= instant and (i.end is None or instant < i.end) for i in self.firing)

    def fires_within(self, start: float, end: float) -> bool:
        """Return whether it fires at any instant of [start, end]."""
        return any(i.start <= end and (i.end is None or i.end > start) for i in self.firing)


class AlertHistory(Value, frozen=True, kw_only=True):
    """All timelines of a stretch of time, and the stretches for which there is no evidence."""

    start: float
    end: float
    timelines: tuple[AlertTimeline, ...] = ()
    gaps: tuple[Interval, ...] = ()


class CheckResult(Value, frozen=True, kw_only=True):
    """The answer of one check at one time."""

    answer: Answer
    at: float
    observed: str = ""
    expected: str = ""
    describe: str = ""


class Work(Value, frozen=True, kw_only=True):
    """Requests that a component finished in so many ``seconds`` of the scenario's load, and those that failed.

    ``within`` are (milliseconds, how many took at most that long), rising; empty where durations are not measured.
    """

    seconds: float
    requests: float
    errors: float = 0.0
    within: tuple[tuple[float, float], ...] = ()


class Passage(Value, frozen=True, kw_only=True):
    """The work of a component of which no alert spoke, before anything was broken and while it was."""

    entity: str
    before: Work
    during: Work
