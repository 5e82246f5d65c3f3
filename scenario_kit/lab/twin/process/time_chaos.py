"""Clocks that TimeChaos has shifted: what processes say of the time, where they say it.

The daemon changes the clock that a container's processes read, those that run at that moment; a container that was
started again reads the true one. Durations are measured with another clock, timers run on it, and nothing in the apps
compares the time of day with that of others, so what remains are the times that programs write down: of their spans.
"""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.lab.twin.process.process import Process, list_injected
from scenario_kit.model.chaos.effects import ContainerEffect, Ledger

#: The number of the clock that tells the time of day (``CLOCK_REALTIME``); others are not told by anybody.
_REALTIME = 0


def note(processes: Iterable[Process], ledger: Ledger, start: float) -> None:
    """Take note of how far the clocks of processes are ahead from ``start`` on."""
    for process in processes:
        ahead = sum(_shift(effect) for effect in list_injected(process, ledger, "Time"))
        if ahead != read_shift(process, start):
            process.clock = (*process.clock, (start, ahead))


def read_shift(process: Process, t: float) -> float:
    """Read by how many seconds the clock of a process was ahead at a time; negative where it was behind."""
    return next((ahead for since, ahead in reversed(process.clock) if since <= t), 0.0)


def _shift(effect: ContainerEffect) -> float:
    """Return the seconds that an effect puts the time of day ahead by."""
    if _REALTIME not in effect.arguments["clocks"]:
        return 0.0
    return float(effect.arguments["seconds"]) + float(effect.arguments["nanoseconds"]) / 1e9
