"""Faults: the authored type in the catalogue, and a fault rendered for one target."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from scenario_kit.model.authored.change import Change
from scenario_kit.model.authored.check import Check
from scenario_kit.model.authored.parameter_lookup import fill_lookups
from scenario_kit.model.authored.scenario import Decoy, FaultStart, Rollout, Solution
from scenario_kit.model.base import Object, Value
from scenario_kit.model.kubernetes.reference import Reference

Persistence = Literal["Object", "Workload", "Pod", "OneShot", "Expires", "SelfHeals"]
EntityRole = Literal["Cause", "Artefact", "Victim"]


class Symptom(Value, frozen=True, kw_only=True):
    """A hint for ``new``: an alert and its entity relative to the target, unless ``when`` is false."""

    alert: str
    entity: Literal["Self", "Callers", "Entry"]
    when: str = ""


class PolicyException(Value, frozen=True, kw_only=True):
    """A policy exception that a fault needs, with the reason; ``admission`` still limits it."""

    allow: str
    because: str


class Precondition(Value, frozen=True, kw_only=True):
    """A condition on target and parameters for the fault to take effect; ``message`` explains a violation."""

    condition: str
    message: str
    fix: str = ""


class Restore(Value, frozen=True, kw_only=True):
    """Restore what the fault writes: everything, one object, or one path of a patch."""

    target: str = ""
    field: str = ""


def find_entity_ref(document: Object) -> str:
    """Return the reference of an entity as written; by default the created object, or else the target."""
    return str(document.get("ref") or ("{{ created }}" if document.get("generated") else "{{ target }}"))


class FaultType(Value, frozen=True, kw_only=True):
    """``catalog/faults/<name>/fault.yaml``. Templates stay unrendered until a target is known."""

    name: str
    version: int
    title: str
    description: str
    family: str = ""
    targets: tuple[str, ...]
    parameters: Object = {}
    changes: tuple[Any, ...]
    undo: tuple[Any, ...] = ()
    effect: tuple[Any, ...]
    undone: tuple[Any, ...] = ()
    entities: tuple[Any, ...]
    causes_join: Literal["Independent", "Conjunctive"] = "Independent"
    mitigation: Literal["Native", "Workaround", "None"] = "Native"
    persistence: Persistence = "Object"
    scope: Literal["Namespace", "Cluster"] = "Namespace"
    rollout: Rollout = Rollout()
    symptoms: tuple[Symptom, ...] = ()
    solutions: tuple[Any, ...] = ()
    decoys: tuple[Any, ...] = ()
    requires: tuple[str, ...] = ()
    exceptions: tuple[PolicyException, ...] = ()
    app_options: Object = {}
    references: tuple[str, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    variables: Object = {}

    def __post_init__(self) -> None:
        """Expand the lookups of parameters."""
        msgspec.structs.force_setattr(self, "parameters", fill_lookups(self.parameters))


class Entity(Value, frozen=True, kw_only=True):
    """An object that the fault writes, its role, and for a cause the changes that repair just this cause."""

    ref: Reference
    field: str = ""
    role: EntityRole = "Cause"
    generated: bool = False
    fix: tuple[Change, ...] = ()


#: Prefix of the groups of faults' receipts.
FAULT_GROUPS: Final = "Fault/"


def name_fault_group(name: str) -> str:
    """Return the group of a fault's receipts."""
    return f"{FAULT_GROUPS}{name}"


class Fault(Value, frozen=True, kw_only=True):
    """A fault rendered for its target, with everything needed to inject, verify and undo it."""

    name: str
    type: str
    version: int
    target: Reference
    role: str = "Cause"
    visibility: str = "Visible"
    changes: tuple[Change, ...]
    undo: tuple[Change, ...] = ()
    effect: tuple[Check, ...]
    undone: tuple[Check, ...] = ()
    entities: tuple[Entity, ...]
    causes_join: str = "Independent"
    mitigation: str = "Native"
    persistence: Persistence = "Object"
    scope: str = "Namespace"
    rollout: Rollout = Rollout()
    callers: tuple[Reference, ...] = ()
    start: FaultStart = FaultStart()
    lasts_seconds: int | None = None
    solutions: tuple[Solution, ...] = ()
    decoys: tuple[Decoy, ...] = ()
    requires: tuple[str, ...] = ()
    exceptions: tuple[PolicyException, ...] = ()
    digest: str = ""

    @property
    def experiments(self) -> tuple[Object, ...]:
        """The Chaos Mesh objects that it creates, in order."""
        return tuple(e for c in self.changes if (e := c.operation.experiment) is not None)

    @property
    def causes(self) -> tuple[Entity, ...]:
        """The entities that are causes."""
        return tuple(e for e in self.entities if e.role == "Cause")

    @property
    def group(self) -> str:
        """The group of its receipts."""
        return name_fault_group(self.name)
