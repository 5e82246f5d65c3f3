"""When a fault of a staged scenario is due. Pure: its start, what the others have reached, the alerts → an answer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from scenario_kit.judge.alerts.expectations import is_same_entity
from scenario_kit.model import AlertHistory
from scenario_kit.model.authored.scenario import FaultStart, OnAlert


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known at one instant. ``zero`` is when the step began, ``expected`` are the faults that are in force or
    that this step is going to inject; ``history`` is called only for faults that wait for an alert."""

    now: float
    zero: float
    injected: Collection[str]
    effective: Collection[str]
    expected: Collection[str]
    history: Callable[[], AlertHistory]


def is_due(start: FaultStart, name: str, situation: Situation) -> bool:
    """Check whether the fault ``name`` begins now.

    A fault that waits for others begins at once where none of them is in force or to come: a program that injects it
    alone asks what it does by itself.
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
    """Check whether the alert was seen to fire, on its entity where one is named, since that instant."""
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
