"""What a snapshot is made of: an incident that was played, as it was to be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scenario_kit.model import AlertHistory, Runbook
from scenario_kit.model.runtime.recording import RecordedTick
from scenario_kit.ports import Metrics, Series


@dataclass(frozen=True)
class Recording:
    """An incident that was played. Times are on the trial's clock.

    ``start`` is the first instant, ``injected`` that of the first change of a fault (None where nothing was broken),
    ``handover`` the last instant that somebody called to it can look back on. ``read_ticks`` reads the ticks from the
    first one, as often as it is called; there may be later ones than ``handover``. ``virtual`` tells a trial whose
    time was its own, so that whatever the wall clock put into it is chance. ``alerted`` are the namespaces whose series
    the rules of ``history`` saw, where they are not the app's own, ``store`` makes samples what is written of them, and
    ``disorder`` are the seconds by which lines and spans may bear other times than those at which they came.
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
    alerted: tuple[str, ...] = ()
    disorder: float = 0.0
    store: Callable[[Sequence[Series]], Iterable[Series]] = iter

    @property
    def minutes(self) -> float:
        """How long it is, in minutes of its own time."""
        return (self.handover - self.start) / 60
