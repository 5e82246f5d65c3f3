"""A summary of an incident for reviewers."""

from __future__ import annotations

from typing import Any

from scenario_kit.model.base import Value


class BrokenTarget(Value, frozen=True, kw_only=True):
    """A fault of the incident: name, type with its title, target, parameters and role."""

    name: str
    type: str
    title: str = ""
    target: str
    parameters: dict[str, Any] = {}
    role: str = "Cause"


class PromisedAlert(Value, frozen=True, kw_only=True):
    """A must-fire alert: its entity (empty: any), and its deadline in seconds after injection (0: unknown)."""

    name: str
    entity: str = ""
    within_seconds: int = 0


class NamedProcedure(Value, frozen=True, kw_only=True):
    """A solution or decoy with its description."""

    name: str
    description: str = ""


class Incident(Value, frozen=True, kw_only=True):
    """An authored incident. ``app`` is name and version; ``causes`` are the labelled entities.

    ``solutions`` and ``decoys`` are the scenario's own, or else its faults'.
    """

    title: str
    brief: str = ""
    app: str
    load: str = ""
    options: dict[str, Any] = {}
    outcome: str = "Incident"
    faults: tuple[BrokenTarget, ...] = ()
    causes: tuple[str, ...] = ()
    alerts: tuple[PromisedAlert, ...] = ()
    solutions: tuple[NamedProcedure, ...] = ()
    decoys: tuple[NamedProcedure, ...] = ()
