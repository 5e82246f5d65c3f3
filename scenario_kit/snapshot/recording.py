"""A recorded incident, the source of a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scenario_kit.model import AlertHistory, Runbook
from scenario_kit.model.runtime.recording import RecordedTick
from scenario_kit.ports import Metrics, Series


@dataclass(frozen=True)
class Recording:
    """A recorded incident. Times are on the trial's clock.

    ``start`` is the first instant, ``injected`` the first injection (None without a fault), and ``handover`` the last
    instant visible to a solver. ``read_ticks`` reads all ticks from the first, possibly beyond ``handover``, on every
    call. ``virtual`` marks virtual time, in which wall-clock values are arbitrary. ``alerted`` are the namespaces whose
    series the rules of ``history`` evaluated, if not the app's own. ``store`` converts samples before they are written,
    and ``disorder`` is the maximum deviation of line and span times in seconds.
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
        """Return its duration in minutes of trial time."""
        return (self.handover - self.start) / 60
