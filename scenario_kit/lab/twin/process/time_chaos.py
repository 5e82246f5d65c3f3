"""TimeChaos: shifted clocks of processes.

The daemon shifts the clock of a container's running processes; a restarted container has the true time. Durations and
timers use another clock, and no app compares its time of day with another's, so only recorded timestamps are affected:
those of spans.
"""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.lab.twin.process.process import Process, list_injected
from scenario_kit.model.chaos.effects import ContainerEffect, Ledger

#: The ID of ``CLOCK_REALTIME``; other clocks have no visible effect.
_REALTIME = 0


def note(processes: Iterable[Process], ledger: Ledger, start: float) -> None:
    """Record the clock offsets of processes from ``start`` on."""
    for process in processes:
        ahead = sum(_shift(effect) for effect in list_injected(process, ledger, "Time"))
        if ahead != read_shift(process, start):
            process.clock = (*process.clock, (start, ahead))


def read_shift(process: Process, t: float) -> float:
    """Return the clock offset of a process at a time in seconds; negative if the clock was behind."""
    return next((ahead for since, ahead in reversed(process.clock) if since <= t), 0.0)


def _shift(effect: ContainerEffect) -> float:
    """Return the time-of-day offset of an effect in seconds."""
    if _REALTIME not in effect.arguments["clocks"]:
        return 0.0
    return float(effect.arguments["seconds"]) + float(effect.arguments["nanoseconds"]) / 1e9
