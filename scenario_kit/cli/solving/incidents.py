"""Incidents for solvers, independent of their source: a lab or a snapshot."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from scenario_kit.solver.gateway.tools import Sources
from scenario_kit.solver.investigation import IncidentClock
from scenario_kit.solver.records.run_record import IncidentTimes

#: Prefix of the incident names that solvers see, which must not reveal the fault.
PREFIX: Final = "incident-"


class HandedIncident(IncidentClock, Protocol):
    """An incident after its hand-over."""

    def judge(self) -> tuple[bool | None, tuple[str, ...]]:
        """Return whether it is resolved, with reasons; None if nothing is broken or repairable."""

    def repair(self) -> None:
        """Apply the documented solution, if possible."""

    def list_changed(self) -> tuple[str, ...]:
        """List the objects that the solver has changed."""

    def measure(self, handed_over: float, ended: float) -> IncidentTimes:
        """Measure when it began and when it was detected."""


class PlayedIncident(NamedTuple):
    """An incident after its hand-over, and the sources that the solver can read.

    ``roots`` are the root causes, as names of objects; ``digest`` identifies the version of the incident. ``readable``
    is a folder that the solver may read, ``hidden`` are folders that it must not.
    """

    incident: HandedIncident
    sources: Sources
    roots: tuple[str, ...]
    digest: str
    readable: Path | None = None
    hidden: tuple[Path, ...] = ()


class IncidentTask(NamedTuple):
    """An incident that can be run: its name, which solvers never see, its brief, and the digest of its version.

    ``play`` takes the name that the solver sees and a seed; on exit, the incident is undone.
    """

    name: str
    brief: str
    digest: str
    play: Callable[[str, int], AbstractContextManager[PlayedIncident]]
