"""Compares the twin with the real node: onset, recovery and set of alerts of the same incident. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from scenario_kit.model import AlertHistory
from scenario_kit.model.base import Value
from scenario_kit.model.grid import GRID_SECONDS

#: Tolerance of onsets in seconds, three ticks: on a real cluster, scrapes, collector flushes and rule evaluations have
#: independent phases; in a lab they share one.
ONSET_BAND: Final = 3 * GRID_SECONDS
#: Tolerance of recoveries: the same plus a back-off of a kubelet or client that starts a tick earlier or later.
RECOVERY_BAND: Final = 5 * GRID_SECONDS
#: An alert shorter than this is at its threshold; firing on one side only is no difference.
EDGE_SECONDS: Final = 2 * GRID_SECONDS

Key = tuple[str, str]
Aspect = Literal["alert", "onset", "recovery"]


class KnownDifference(NamedTuple):
    """An accepted difference and its cause (docs/fidelity.md); ``overbooked`` ones only on an overloaded machine."""

    scenario: str
    alert: str
    aspect: Aspect
    cause: str
    overbooked: bool = False


_LATE: Final = "an overloaded machine starts containers and responds late; the twin does not simulate this"
_PHASES: Final = "the program is up for ten seconds at a time; which scrapes and requests meet it is a matter of phase"
_STARVED: Final = "a program that has a fiftieth of a core anyway waits for its turn of an overloaded machine, too"
KNOWN: Final[tuple[KnownDifference, ...]] = (
    KnownDifference("intake-restarted-for-nothing", "HighRequestErrorRate", "onset", _PHASES),
    KnownDifference("intake-restarted-for-nothing", "HighRequestLatency", "onset", _PHASES),
    KnownDifference("intake-restarted-for-nothing", "KubePodNotReady", "onset", _PHASES),
    KnownDifference("intake-restarted-for-nothing", "NoRequestsReceived", "alert", _PHASES),
    KnownDifference("intake-starved-of-time", "HighRequestErrorRate", "alert", _STARVED, overbooked=True),
)


class Measurement(Value, frozen=True, kw_only=True):
    """An alert on an entity: ``onset`` after the injection, ``recovery`` after the repair; None if it did not end."""

    onset: float
    recovery: float | None
    seconds: float


class ComparedAlert(Value, frozen=True, kw_only=True):
    """An alert of an incident on both sides; None if it did not fire."""

    scenario: str
    alert: str
    entity: str
    real: Measurement | None
    twin: Measurement | None

    @property
    def differences(self) -> tuple[Aspect, ...]:
        """The aspects that differ beyond the tolerance."""
        if self.real is None or self.twin is None:
            shown = self.real or self.twin
            return ("alert",) if shown is not None and shown.seconds >= EDGE_SECONDS else ()
        found: list[Aspect] = []
        if abs(self.real.onset - self.twin.onset) > ONSET_BAND:
            found.append("onset")
        if (self.real.recovery is None) != (self.twin.recovery is None) or (
            self.real.recovery is not None
            and self.twin.recovery is not None
            and abs(self.real.recovery - self.twin.recovery) > RECOVERY_BAND
        ):
            found.append("recovery")
        return tuple(found)


class Episode(NamedTuple):
    """The alerts of an incident, with the times of injection and repair."""

    injected_at: float
    repaired_at: float
    history: AlertHistory


def measure(episode: Episode, until: float | None = None) -> dict[Key, Measurement]:
    """Measure the alerts that started between injection and repair, at most ``until`` seconds after the injection.

    Results are by name and entity: for several pods of a workload, the first onset and the last end count.
    """
    end = min(episode.repaired_at, episode.injected_at + (until if until is not None else float("inf")))
    found: dict[Key, list[tuple[float, float | None]]] = {}
    for timeline in episode.history.timelines:
        for interval in timeline.firing:
            if episode.injected_at <= interval.start < end:
                found.setdefault((timeline.name, timeline.entity or ""), []).append((interval.start, interval.end))
    return {key: _summarize(intervals, episode) for key, intervals in found.items()}


def compare_episodes(scenario: str, real: Episode, twin: Episode) -> list[ComparedAlert]:
    """Compare the alerts of an incident, sorted by name and entity, within the shorter of both episodes."""
    until = min(each.repaired_at - each.injected_at for each in (real, twin))
    here, there = measure(real, until), measure(twin, until)
    return [
        ComparedAlert(scenario=scenario, alert=key[0], entity=key[1], real=here.get(key), twin=there.get(key))
        for key in sorted({*here, *there})
    ]


def explain(row: ComparedAlert, aspect: Aspect, *, overbooked: bool) -> str:
    """Return the known cause of a difference, or that of an overloaded machine; empty if it is unexplained."""
    if aspect == "onset" and overbooked and row.real is not None and row.twin is not None:
        return _LATE if row.real.onset > row.twin.onset else ""
    of_row = (row.scenario, row.alert, aspect)
    found = (k.cause for k in KNOWN if k[:3] == of_row and (overbooked or not k.overbooked))
    return next(found, "")


def list_unexplained(rows: Iterable[ComparedAlert], *, overbooked: bool) -> list[str]:
    """List the unexplained differences, one line each."""
    return [
        f"{row.scenario}: {aspect} of {row.alert} on {row.entity or 'no entity'}"
        for row in rows
        for aspect in row.differences
        if not explain(row, aspect, overbooked=overbooked)
    ]


def format_comparison(rows: Iterable[ComparedAlert]) -> str:
    """Format a comparison as a Markdown table."""
    lines = [
        "| scenario | alert | on | onset real, twin | recovery real, twin | beyond the band |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        sides = (row.real, row.twin)
        onset = ", ".join("–" if m is None else f"{m.onset:.0f}" for m in sides)
        recovery = ", ".join("–" if m is None or m.recovery is None else f"{m.recovery:.0f}" for m in sides)
        beyond = ", ".join(row.differences)
        lines.append(f"| {row.scenario} | {row.alert} | {row.entity or '–'} | {onset} | {recovery} | {beyond} |")
    return "\n".join(lines) + "\n"


def _summarize(intervals: list[tuple[float, float | None]], episode: Episode) -> Measurement:
    ends = [end for _, end in intervals if end is not None]
    last = max(ends) if len(ends) == len(intervals) else None
    return Measurement(
        onset=min(start for start, _ in intervals) - episode.injected_at,
        recovery=None if last is None else max(0.0, last - episode.repaired_at),
        seconds=(last if last is not None else episode.history.end) - min(start for start, _ in intervals),
    )
