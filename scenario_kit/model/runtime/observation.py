"""Observations, with times and gaps. Times are in seconds since the epoch, on the trial's clock."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value
from scenario_kit.model.kubernetes.reference import Reference

Answer = Literal["True", "False", "Unknown"]


class Interval(Value, frozen=True, kw_only=True):
    """An interval; ``end`` is None if it was still open at the end of the observation."""

    start: float
    end: float | None = None


class AlertTimeline(Value, frozen=True, kw_only=True):
    """The pending and firing intervals of an alert on one entity, or on none."""

    name: str
    entity: Reference | None = None
    labels: dict[str, str] = {}
    pending: tuple[Interval, ...] = ()
    firing: tuple[Interval, ...] = ()

    def onset(self, after: float) -> float | None:
        """Return the first instant from ``after`` at which it fires."""
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
    """All timelines of a period, and the gaps without data."""

    start: float
    end: float
    timelines: tuple[AlertTimeline, ...] = ()
    gaps: tuple[Interval, ...] = ()


class CheckResult(Value, frozen=True, kw_only=True):
    """The result of a check at one time."""

    answer: Answer
    at: float
    observed: str = ""
    expected: str = ""
    describe: str = ""


class Work(Value, frozen=True, kw_only=True):
    """Requests that a component finished in ``seconds`` of the scenario's load, and those that failed.

    ``within`` is a cumulative histogram: pairs of milliseconds and count; empty if durations are not measured.
    """

    seconds: float
    requests: float
    errors: float = 0.0
    within: tuple[tuple[float, float], ...] = ()


class Passage(Value, frozen=True, kw_only=True):
    """The work of a component without alerts on the propagation path, before and during the incident."""

    entity: Reference
    before: Work
    during: Work
