"""A snapshot in place of a live incident: read-only, and never resolved."""

from __future__ import annotations

from typing import Literal

from scenario_kit.solver.offline.evidence import SnapshotEvidence
from scenario_kit.solver.records.run_record import IncidentTimes


class RecordedIncident:
    """The clock of a run over a snapshot. Calls cost time, but the data stays that of the hand-over."""

    def __init__(self, evidence: SnapshotEvidence) -> None:
        self._evidence = evidence
        self._spent = 0.0

    @property
    def mode(self) -> Literal["virtual", "wall"]:
        """The kind of clock: always virtual."""
        return "virtual"

    def now(self) -> float:
        """Return the time of the hand-over plus the time spent by the run, in seconds since the epoch."""
        return self._evidence.now + self._spent

    def advance(self, seconds: float) -> None:
        """Spend time."""
        self._spent += max(seconds, 0.0)

    def judge(self) -> tuple[bool | None, tuple[str, ...]]:
        """Judge nothing: a snapshot cannot be repaired."""
        return None, ()

    def repair(self) -> None:
        """Repair nothing."""

    def list_changed(self) -> tuple[str, ...]:
        """List nothing: a snapshot cannot be changed."""
        return ()

    def measure(self, handed_over: float, ended: float) -> IncidentTimes:
        """Measure the time of the first alert."""
        begun = [each.start for t in self._evidence.alerts.timelines for each in (*t.firing, *t.pending)]
        return IncidentTimes(handed_over=handed_over, ended=ended, first_alert=min(begun, default=None))
