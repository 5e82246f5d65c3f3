"""How far the twin is from the real node: onset, recovery and set of alerts of the same incident. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from scenario_kit.model import AlertHistory
from scenario_kit.model.base import Value
from scenario_kit.model.grid import GRID_SECONDS

#: How far apart onsets may be, in seconds: three ticks. Scrapes, flushes of the collector and evaluations of rules each
#: have a phase of their own on a real cluster, and one in a lab.
ONSET_BAND: Final = 3 * GRID_SECONDS
#: How far apart recoveries may be: that, and a back-off of a kubelet or client that begins a tick earlier or later.
RECOVERY_BAND: Final = 5 * GRID_SECONDS
#: An alert that fires for less than this is on the edge of its threshold: on one side only, it is no difference.
EDGE_SECONDS: Final = 2 * GRID_SECONDS

Key = tuple[str, str]
Aspect = Literal["alert", "onset", "recovery"]


class KnownDifference(NamedTuple):
    """A difference that is left, with its cause (docs/fidelity.md)."""

    scenario: str
    alert: str
    aspect: Aspect
    cause: str


_ICMP: Final = (
    "the kernel tells of a refused connection once a second, and who dials more often waits; the twin refuses all"
)
_LATE: Final = "a machine with too much to do starts containers and answers late, and the twin never waits for it"
KNOWN: Final = (KnownDifference("ledger-asleep", "HighRequestLatency", "alert", _ICMP),)


class Measurement(Value, frozen=True, kw_only=True):
    """An alert on an entity. ``onset`` counts from the injection, ``recovery`` from the repair; None: it goes on."""

    onset: float
    recovery: float | None
    seconds: float


class ComparedAlert(Value, frozen=True, kw_only=True):
    """An alert of an incident on both sides; None where it did not fire."""

    scenario: str
    alert: str
    entity: str
    real: Measurement | None
    twin: Measurement | None

    @property
    def differences(self) -> tuple[Aspect, ...]:
        """What differs beyond the band."""
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
    """What is measured: the alerts from the injection to the repair, and when they ended."""

    injected_at: float
    repaired_at: float
    history: AlertHistory


def measure(episode: Episode, until: float | None = None) -> dict[Key, Measurement]:
    """Measure each alert that began between injection and repair, and at most ``until`` seconds after the injection.

    By name and entity: several pods of a workload are one, of which the first onset and the last end count.
    """
    end = min(episode.repaired_at, episode.injected_at + (until if until is not None else float("inf")))
    found: dict[Key, list[tuple[float, float | None]]] = {}
    for timeline in episode.history.timelines:
        for interval in timeline.firing:
            if episode.injected_at <= interval.start < end:
                found.setdefault((timeline.name, timeline.entity), []).append((interval.start, interval.end))
    return {key: _summarize(intervals, episode) for key, intervals in found.items()}


def compare_episodes(scenario: str, real: Episode, twin: Episode) -> list[ComparedAlert]:
    """Compare the alerts of an incident, sorted by name and entity, as far as both were looked at.

    Whoever was repaired earlier ends the time within which an alert may begin.
    """
    until = min(each.repaired_at - each.injected_at for each in (real, twin))
    here, there = measure(real, until), measure(twin, until)
    return [
        ComparedAlert(scenario=scenario, alert=key[0], entity=key[1], real=here.get(key), twin=there.get(key))
        for key in sorted({*here, *there})
    ]


def explain(row: ComparedAlert, aspect: Aspect, *, overbooked: bool) -> str:
    """Explain a difference by what is known of the twin, or by a busy machine; empty if nothing explains it."""
    if aspect == "onset" and overbooked and row.real is not None and row.twin is not None:
        return _LATE if row.real.onset > row.twin.onset else ""
    found = (k.cause for k in KNOWN if (k.alert, k.aspect) == (row.alert, aspect) and k.scenario == row.scenario)
    return next(found, "")


def list_unexplained(rows: Iterable[ComparedAlert], *, overbooked: bool) -> list[str]:
    """List the differences that nothing explains, each in a line."""
    return [
        f"{row.scenario}: {aspect} of {row.alert} on {row.entity or 'no entity'}"
        for row in rows
        for aspect in row.differences
        if not explain(row, aspect, overbooked=overbooked)
    ]


def format_comparison(rows: Iterable[ComparedAlert]) -> str:
    """Format a comparison as a table of Markdown."""
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
