"""Rows of the matrix: each fault type tried alone on each target of an app."""

from __future__ import annotations

import datetime
from typing import Literal

import msgspec

from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.base import Value
from scenario_kit.model.kubernetes.reference import Reference

#: *Ran*: injected, verified, observed, removed. *NoEffect*: an effect check failed, or the cluster rejected the change.
#: *Lacking*: the lab lacks a needed capability. *Infra*: infrastructure failed; it is retried.
Tried = Literal["Ran", "NoEffect", "Lacking", "Infra"]


class Fired(Value, frozen=True, kw_only=True):
    """An alert that fired during the fault; ``seconds`` from injection to onset."""

    name: str
    entity: Reference | None = None
    seconds: float

    def __str__(self) -> str:
        return name_alert(self)


class MatrixRow(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A fault type with default parameters on one target. Times are in seconds on the trial's clock.

    Attributes:
        change: version of the fault type.
        date: day of the trial.
        alerts: alerts of the default pack within ``observed_seconds`` of the injection, in order.
        proven: effect checks that passed.
        recovered: whether effect and alerts were gone after the fault was removed.
        clean: whether nothing was left in the cluster.
        reported: a description of what went wrong.
    """

    app: str
    version: str
    fault: str
    change: int
    family: str
    target: Reference
    outcome: Tried
    date: datetime.date
    alerts: tuple[Fired, ...] = ()
    proven: tuple[str, ...] = ()
    effective_seconds: float | None = None
    recovered: bool | None = None
    clean: bool | None = None
    observed_seconds: int = 0
    reported: str = msgspec.field(default="", name="told")
    wall_seconds: float = 0.0
