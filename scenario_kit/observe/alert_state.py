"""Alert state machine of Prometheus: inactive, pending, firing. Pure; the state is a value.

Semantics of ``rules/alerting.go`` of Prometheus 3: an alert is pending from the first tick at which its label set is in
the result, fires at the first tick that is ``for`` or more later, and ends at the first tick without it, or, once it
has fired, at the first tick ``keep_firing_for`` or more after that. A failed evaluation leaves the state unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scenario_kit.model import Interval

#: The identity of an alert of one rule: its labels as sorted pairs.
LabelSet = tuple[tuple[str, str], ...]


class RuleEvaluation(NamedTuple):
    """One evaluation: the label sets in the result, or None if it failed."""

    at: float
    active: frozenset[LabelSet] | None


class Alert(NamedTuple):
    """One alert: start of its active and firing states, start of ``keep_firing_for``, and past intervals."""

    active_at: float | None = None
    fired_at: float | None = None
    absent_at: float | None = None
    pending: tuple[Interval, ...] = ()
    firing: tuple[Interval, ...] = ()

    def begin(self, at: float) -> Alert:
        """Become active."""
        return self._replace(active_at=at)

    def age(self, at: float, for_seconds: float) -> Alert:
        """Stay active; fire once active for ``for_seconds``."""
        assert self.active_at is not None
        if self.fired_at is not None or at - self.active_at < for_seconds:
            return self._replace(absent_at=None)
        return self._replace(fired_at=at, pending=self._pending_until(at))

    def end(self, at: float, keep_firing_seconds: float = 0) -> Alert:
        """Leave the result: end, unless ``keep_firing_seconds`` have not passed."""
        absent_at = at if self.absent_at is None else self.absent_at
        if self.fired_at is not None and at - absent_at < keep_firing_seconds:
            return self._replace(absent_at=absent_at)
        if self.fired_at is None:
            return Alert(pending=self._pending_until(at), firing=self.firing)
        return Alert(pending=self.pending, firing=(*self.firing, Interval(start=self.fired_at, end=at)))

    def _pending_until(self, at: float) -> tuple[Interval, ...]:
        assert self.active_at is not None
        return (*self.pending, Interval(start=self.active_at, end=at)) if at > self.active_at else self.pending

    @property
    def intervals(self) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]:
        """Return pending and firing intervals, including open ones."""
        if self.fired_at is not None:
            return self.pending, (*self.firing, Interval(start=self.fired_at))
        if self.active_at is not None:
            return (*self.pending, Interval(start=self.active_at)), self.firing
        return self.pending, self.firing


State = Mapping[LabelSet, Alert]


def fire(
    state: State, ticks: Iterable[RuleEvaluation], for_seconds: float, keep_firing_seconds: float = 0
) -> dict[LabelSet, Alert]:
    """Return the state after further ticks of one rule, in order."""
    alerts = dict(state)
    for at, active in ticks:
        if active is None:
            continue
        for labels in active:
            alert = alerts.get(labels, Alert())
            if alert.active_at is None:
                alert = alert.begin(at)
            alerts[labels] = alert.age(at, for_seconds)
        for labels in [k for k, a in alerts.items() if a.active_at is not None and k not in active]:
            alerts[labels] = alerts[labels].end(at, keep_firing_seconds)
    return alerts
