"""What became of a pair: records that survive an interruption, one line of JSON each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from scenario_kit.model import AlertHistory
from tests import records
from tests.matrix.pairs import Pair

#: *Ran*: injected, proven, observed, removed. *NoEffect*: an effect check failed, or the cluster refused the change.
#: *Lacking*: a lab has not what the fault needs. *Infra*: nothing could be judged; it is tried again.
Outcome = Literal["Ran", "NoEffect", "Lacking", "Infra"]


class Fired(msgspec.Struct, frozen=True, kw_only=True):
    """An alert that fired while the fault was in force; ``seconds`` from the injection to its onset."""

    name: str
    on: str = ""
    seconds: float


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One pair. Times are in seconds of the trial's own clock, ``date`` is the day on which it was tried.

    ``proven`` are the effect checks that held, ``recovered`` is whether the fault's effect and every alert were gone
    after it was removed, ``clean`` whether nothing was left in the cluster; ``told`` says what was wrong.
    """

    app: str
    version: str
    fault: str
    change: int
    family: str
    target: str
    outcome: Outcome
    date: str
    alerts: tuple[Fired, ...] = ()
    proven: tuple[str, ...] = ()
    effective_seconds: float | None = None
    recovered: bool | None = None
    clean: bool | None = None
    observed_seconds: int = 0
    told: str = ""
    wall_seconds: float = 0.0

    @property
    def pair(self) -> Pair:
        """What was tried."""
        return Pair(self.app, self.version, self.fault, self.change, self.family, self.target)


def fired(history: AlertHistory, injected: float, until: float) -> tuple[Fired, ...]:
    """Alerts whose firing began between the injection and ``until``, in order; one for each name and entity."""
    first: dict[tuple[str, str], float] = {}
    for timeline in history.timelines:
        for interval in timeline.firing:
            if injected <= interval.start < until:
                key = (timeline.name, timeline.entity)
                first[key] = min(first.get(key, interval.start), interval.start)
    found = [Fired(name=name, on=on, seconds=at - injected) for (name, on), at in first.items()]
    return tuple(sorted(found, key=lambda f: (f.seconds, f.name, f.on)))


def still(history: AlertHistory, injected: float, at: float) -> list[str]:
    """Alerts that fire at an instant and began after the injection."""
    return sorted(
        f"{t.name} on {t.entity}" if t.entity else t.name
        for t in history.timelines
        if any(i.start >= injected and i.start <= at and (i.end is None or i.end > at) for i in t.firing)
    )


def append(path: Path, row: Row) -> None:
    """Add a line to a file of records."""
    records.append(path, row)


def read(path: Path) -> list[Row]:
    """The records of a file, the last one for each pair."""
    return records.read(path, Row, lambda row: row.pair.key)


def left(known: Iterable[Pair], rows: Iterable[Row]) -> list[Pair]:
    """The pairs that nobody has judged yet: first those without a record.

    A lab may have today what it lacked, and be well where it was not.
    """
    outcomes = {row.pair.key: row.outcome for row in rows}
    open_ = [pair for pair in known if outcomes.get(pair.key) not in ("Ran", "NoEffect")]
    return sorted(open_, key=lambda pair: pair.key in outcomes)
