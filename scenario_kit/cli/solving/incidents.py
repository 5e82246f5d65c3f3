"""What is handed to solvers, wherever it comes from: an incident in a lab, or one that a snapshot holds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from scenario_kit.solver.gateway.tools import Sources
from scenario_kit.solver.investigation import IncidentClock
from scenario_kit.solver.records.run_record import IncidentTimes

#: How incidents are called to those who solve them: nothing in it says what is wrong.
PREFIX: Final = "incident-"


class HandedIncident(IncidentClock, Protocol):
    """An incident from its hand-over on."""

    def judge(self) -> tuple[bool | None, tuple[str, ...]]:
        """Judge whether it has ended; None where nothing is broken, or nothing can be repaired. With the reasons."""

    def repair(self) -> None:
        """Carry the documented solution out, where that is possible."""

    def list_changed(self) -> tuple[str, ...]:
        """List the objects that the solver has changed."""

    def measure(self, handed_over: float, ended: float) -> IncidentTimes:
        """Measure when it began, and was seen."""


class PlayedIncident(NamedTuple):
    """An incident that was handed over, and all that a solver reaches.

    ``roots`` is the truth, as names of objects; ``digest`` tells versions of the incident apart. ``readable`` is a
    folder that the solver may read, ``hidden`` are those that it must not.
    """

    incident: HandedIncident
    sources: Sources
    roots: tuple[str, ...]
    digest: str
    readable: Path | None = None
    hidden: tuple[Path, ...] = ()


class IncidentTask(NamedTuple):
    """An incident that can be played: its name, which no solver hears, and its brief.

    ``play`` takes the name by which it is handed over, and a seed; behind its block the incident is undone.
    """

    name: str
    brief: str
    play: Callable[[str, int], AbstractContextManager[PlayedIncident]]
