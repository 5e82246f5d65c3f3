"""Faults: the catalogue entry as it is written, and the same entry rendered for one target."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from scenario_kit.model.authored.change import Change
from scenario_kit.model.authored.check import Check
from scenario_kit.model.authored.parameter_lookup import fill_lookups
from scenario_kit.model.authored.scenario import Decoy, FaultStart, Rollout, Solution
from scenario_kit.model.base import Object, Value

Persistence = Literal["Object", "Workload", "Pod", "OneShot", "Expires", "SelfHeals"]
EntityRole = Literal["Cause", "Artefact", "Victim"]


class Symptom(Value, frozen=True, kw_only=True):
    """A hint for ``new``: an alert and where it shows, relative to the target, unless ``when`` is false."""

    alert: str
    entity: Literal["Self", "Callers", "Entry"]
    when: str = ""


class PolicyException(Value, frozen=True, kw_only=True):
    """What a fault is allowed beyond the usual, and why it needs that; bounded by ``admission`` all the same."""

    allow: str
    because: str


class Precondition(Value, frozen=True, kw_only=True):
    """What must hold for a target and its parameters so that the fault can bite; ``message`` says why it cannot."""

    condition: str
    message: str
    fix: str = ""


class Restore(Value, frozen=True, kw_only=True):
    """Take back what the fault writes: all of it, of one object, or at one path of a patch."""

    target: str = ""
    field: str = ""


def find_entity_ref(document: Object) -> str:
    """Find the reference of an entity as it is written; left out, it is what the fault creates, or its target."""
    return str(document.get("ref") or ("{{ created }}" if document.get("generated") else "{{ target }}"))


class FaultType(Value, frozen=True, kw_only=True):
    """``catalog/faults/<name>/fault.yaml``. Templated parts stay unrendered documents until a target is known."""

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
        """Fill in what parameters look up in the app."""
        msgspec.structs.force_setattr(self, "parameters", fill_lookups(self.parameters))


class Entity(Value, frozen=True, kw_only=True):
    """An object that the fault writes, its role, and for a cause the changes that remove exactly it."""

    ref: str
    field: str = ""
    role: EntityRole = "Cause"
    generated: bool = False
    fix: tuple[Change, ...] = ()


#: What the groups of receipts of all faults begin with.
FAULT_GROUPS: Final = "Fault/"


def name_fault_group(name: str) -> str:
    """Name the group of a fault's receipts."""
    return f"{FAULT_GROUPS}{name}"


class Fault(Value, frozen=True, kw_only=True):
    """A fault rendered for its target: everything that injecting, proving and removing it needs."""

    name: str
    type: str
    version: int
    target: str
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
    callers: tuple[str, ...] = ()
    start: FaultStart = FaultStart()
    lasts_seconds: int | None = None
    solutions: tuple[Solution, ...] = ()
    decoys: tuple[Decoy, ...] = ()
    requires: tuple[str, ...] = ()
    exceptions: tuple[PolicyException, ...] = ()
    digest: str = ""

    @property
    def experiments(self) -> tuple[Object, ...]:
        """The objects of Chaos Mesh that it creates, in the order of its changes."""
        return tuple(e for c in self.changes if (e := c.operation.experiment) is not None)

    @property
    def causes(self) -> tuple[Entity, ...]:
        """The entities that are causes."""
        return tuple(e for e in self.entities if e.role == "Cause")

    @property
    def group(self) -> str:
        """The group of its receipts."""
        return name_fault_group(self.name)
