"""What a snapshot is made of: an incident that was played, as it was to be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from scenario_kit.model import AlertHistory, Runbook
from scenario_kit.model.runtime.recording import RecordedTick
from scenario_kit.ports import Metrics


@dataclass(frozen=True)
class Recording:
    """An incident that was played. Times are on the trial's clock.

    ``start`` is the first instant, ``injected`` that of the first change of a fault (None where nothing was broken),
    ``handover`` the last instant that somebody called to it can look back on. ``read_ticks`` reads the ticks from the
    first one, as often as it is called; there may be later ones than ``handover``. ``virtual`` tells a trial whose
    time was its own, so that whatever the wall clock put into it is chance.
    """

    runbook: Runbook
    seed: int
    start: float
    injected: float | None
    handover: float
    history: AlertHistory
    read_ticks: Callable[[], Iterable[RecordedTick]]
    metrics: Metrics
    virtual: bool = True
    injections: Mapping[str, float] = field(default_factory=dict)

    @property
    def minutes(self) -> float:
        """How long it is, in minutes of its own time."""
        return (self.handover - self.start) / 60
