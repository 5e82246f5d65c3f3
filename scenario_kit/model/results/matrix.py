"""What each type of fault showed on each target of an app when it was tried there alone: the rows of the matrix."""

from __future__ import annotations

from typing import Literal

import msgspec

from scenario_kit.model.base import Value

#: *Ran*: injected, proven, observed, removed. *NoEffect*: an effect check failed, or the cluster refused the change.
#: *Lacking*: a lab has not what the fault needs. *Infra*: nothing could be judged; it is tried again.
Tried = Literal["Ran", "NoEffect", "Lacking", "Infra"]


class Fired(Value, frozen=True, kw_only=True):
    """An alert that fired while the fault was in force; ``seconds`` from the injection to its onset."""

    name: str
    entity: str = ""
    seconds: float

    def __str__(self) -> str:
        return f"{self.name} on {self.entity}" if self.entity else self.name


class MatrixRow(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One fault type with its default parameters on one target. Times are in seconds of the trial's own clock.

    ``change`` is the version of the fault type, ``date`` the day on which it was tried. ``alerts`` are those of the
    default pack within ``observed_seconds`` of the injection, in order. ``proven`` are the effect checks that held,
    ``recovered`` is whether the fault's effect and every alert were gone after it was removed, ``clean`` whether
    nothing was left in the cluster; ``told`` says what was wrong.
    """

    app: str
    version: str
    fault: str
    change: int
    family: str
    target: str
    outcome: Tried
    date: str
    alerts: tuple[Fired, ...] = ()
    proven: tuple[str, ...] = ()
    effective_seconds: float | None = None
    recovered: bool | None = None
    clean: bool | None = None
    observed_seconds: int = 0
    reported: str = msgspec.field(default="", name="told")
    wall_seconds: float = 0.0
