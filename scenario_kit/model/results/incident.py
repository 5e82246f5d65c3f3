"""What an incident is, in the few lines that a reviewer reads before anything else."""

from __future__ import annotations

from typing import Any

from scenario_kit.model.base import Value


class BrokenTarget(Value, frozen=True, kw_only=True):
    """One fault: its name in the scenario, its type and that type's title, its target and parameters, and its role."""

    name: str
    type: str
    title: str = ""
    target: str
    parameters: dict[str, Any] = {}
    role: str = "Cause"


class PromisedAlert(Value, frozen=True, kw_only=True):
    """An alert that must fire: its entity (empty: any) and its deadline in seconds after the injection (0: unknown)."""

    name: str
    entity: str = ""
    within_seconds: int = 0


class NamedProcedure(Value, frozen=True, kw_only=True):
    """A solution or decoy: its name and what it says of itself."""

    name: str
    description: str = ""


class Incident(Value, frozen=True, kw_only=True):
    """An authored incident. ``app`` is its name and version; ``causes`` are the labelled entities.

    ``solutions`` and ``decoys`` are those of the file, or those that come with its faults.
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
