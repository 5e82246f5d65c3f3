"""Decide when a fault of a staged scenario is due. Pure: start condition × progress × alerts → bool."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from scenario_kit.judge.alerts.expectations import is_same_entity
from scenario_kit.model import AlertHistory
from scenario_kit.model.authored.scenario import FaultStart, OnAlert


@dataclass(frozen=True, slots=True)
class Situation:
    """The state at one instant. ``zero`` is when the step began, ``expected`` are the faults that are in force or that
    this step will inject; ``history`` is called only for faults that wait for an alert.
    """

    now: float
    zero: float
    injected: Collection[str]
    effective: Collection[str]
    expected: Collection[str]
    history: Callable[[], AlertHistory]


def is_due(start: FaultStart, name: str, situation: Situation) -> bool:
    """Return whether the fault ``name`` starts now.

    A fault that waits for others starts at once if none of them is in force or planned, as in a program that injects it
    alone.
    """
    if start.after_seconds is not None:
        return situation.now >= situation.zero + start.after_seconds
    others = set(situation.expected) - {name}
    if start.after_fault is not None:
        reached = situation.injected if start.is_ == "Injected" else situation.effective
        return start.after_fault in reached or start.after_fault not in others
    if start.on_alert is not None:
        return not others or has_fired(start.on_alert, situation.history(), situation.zero)
    return True


def has_fired(alert: OnAlert, history: AlertHistory, since: float) -> bool:
    """Return whether the alert has fired since that instant, on its entity if one is named."""
    return any(
        t.name == alert.name and is_same_entity(alert.entity, t.entity) and t.fires_within(since, history.end)
        for t in history.timelines
    )


def waits_for(start: FaultStart) -> Literal["Nothing", "Time", "Fault", "Alert"]:
    """Return what a fault waits for."""
    if start.on_alert is not None:
        return "Alert"
    if start.after_fault is not None:
        return "Fault"
    return "Time" if start.after_seconds else "Nothing"
