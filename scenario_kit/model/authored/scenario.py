"""The content of ``scenario.yaml`` (docs/scenario-reference.md)."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from scenario_kit.model.authored.change import Change
from scenario_kit.model.authored.check import Check
from scenario_kit.model.authored.month import Month
from scenario_kit.model.authored.noise import Noise
from scenario_kit.model.base import Value
from scenario_kit.model.kubernetes.reference import GROUP, Reference

API_VERSION = f"{GROUP}/v1alpha1"


Outcome = Literal["Incident", "Benign", "NoIncident"]
Role = Literal["Cause", "Trigger", "Sustaining", "Distractor"]
#: Kind of a node of the propagation that stands for the object of a fault whose name is generated.
FAULT_NODE: Final = "Fault"
#: Roles of labelled faults: repairing them ends the incident.
LABELLED: Final = ("Cause", "Sustaining")


class Author(Value, frozen=True, kw_only=True):
    """An author of the scenario."""

    name: str
    github: str = ""


#: The number of simulated users where a scenario names none.
DEFAULT_USERS: Final = 50


class Load(Value, frozen=True, kw_only=True):
    """Traffic offered to the app: a profile of the app and the number of users."""

    profile: str = "steady"
    users: int = DEFAULT_USERS


class AppChoice(Value, frozen=True, kw_only=True):
    """The app, its version, and its configuration."""

    name: str
    version: str
    options: dict[str, Any] = {}
    load: Load = Load()
    alert_packs: tuple[str, ...] = ("default",)


class Rollout(Value, frozen=True, kw_only=True):
    """The way in which a change reaches running processes (docs/add-a-fault.md)."""

    drop_old: bool = False
    reconnect: Literal["None", "Callers"] = "None"


class OnAlert(Value, frozen=True, kw_only=True):
    """An alert that starts a fault; its deadline counts from the latest injection before it."""

    name: str
    entity: Reference | None = None
    within_seconds: int | None = None


class FaultStart(Value, frozen=True, kw_only=True):
    """When a fault starts: after a delay, another fault, or an alert; by default at once."""

    after_seconds: int | None = None
    after_fault: str | None = None
    is_: Literal["Injected", "Effective"] = msgspec.field(name="is", default="Effective")
    on_alert: OnAlert | None = None


class Recurrence(Value, frozen=True, kw_only=True):
    """A fault that recurs every ``every_seconds`` and lasts ``for_seconds``; 0 if it is one-shot."""

    every_seconds: int
    for_seconds: int = 0


class FaultUse(Value, frozen=True, kw_only=True):
    """A fault type of the catalogue, applied to a target; ``replicas`` limits how many of its pods are hit."""

    name: str
    type: str
    target: Reference
    parameters: dict[str, Any] = {}
    rollout: Rollout | None = None
    start: FaultStart = FaultStart()
    lasts_seconds: int | None = None
    recurrence: Recurrence | None = None
    replicas: int | None = None
    role: Role = "Cause"
    visibility: Literal["Visible", "Hidden"] = "Visible"


class AlertExpectation(Value, frozen=True, kw_only=True):
    """An expected alert. ``entity`` is None if any object counts."""

    name: str
    alert_class: Literal["MustFire", "MayFire", "MustNotFire"] = msgspec.field(name="class", default="MustFire")
    entity: Reference | None = None
    after: str = ""
    within_seconds: int | None = None


class BackgroundAlert(Value, frozen=True, kw_only=True):
    """An alert that also fires in the healthy app, and why that is accepted."""

    name: str
    entity: Reference | None = None
    reason: str


class Expect(Value, frozen=True, kw_only=True):
    """The expected symptoms. A ``silent`` incident raises no alert, only its checks show it."""

    alerts: tuple[AlertExpectation, ...] = ()
    background: tuple[BackgroundAlert, ...] = ()
    silent: bool = False
    checks: tuple[Check, ...] = ()

    @property
    def signs(self) -> tuple[Check, ...]:
        """The checks that show a silent incident: those that hold only during it."""
        return tuple(check for check in self.checks if not check.stays) if self.silent else ()


class RootCause(Value, frozen=True, kw_only=True):
    """A labelled cause. ``entity`` may be omitted only if the fault generates the name."""

    fault: str
    entity: Reference | None = None
    aliases: tuple[Reference, ...] = ()


class PropagationEdge(Value, frozen=True, kw_only=True):
    """A causal edge. ``Fault/<name>`` is the entity of a fault with a generated name."""

    from_: Reference = msgspec.field(name="from")
    to: Reference
    because: str = ""


class GroundTruth(Value, frozen=True, kw_only=True):
    """The ground truth: root causes, and how failures propagate to the alerts.

    ``causes_join`` is how labelled faults combine; causes within a fault combine as its type says.
    """

    outcome: Outcome = "Incident"
    causes_join: Literal["Independent", "Conjunctive"] = "Independent"
    root_causes: tuple[RootCause, ...] = ()
    propagation: tuple[PropagationEdge, ...] = ()


class Solution(Value, frozen=True, kw_only=True):
    """A documented repair. ``fixes`` names the faults whose causes it removes."""

    name: str
    fixes: tuple[str, ...] = ()
    description: str = ""
    changes: tuple[Change, ...] = ()


class Decoy(Value, frozen=True, kw_only=True):
    """A plausible but wrong repair, which must not clear the symptoms."""

    name: str
    description: str = ""
    changes: tuple[Change, ...] = ()


class Suppression(Value, frozen=True, kw_only=True):
    """A suppressed finding, with a reason and its last month."""

    code: str
    reason: str
    until: Month


class ScenarioSpec(Value, frozen=True, kw_only=True):
    """``spec`` of a Scenario. ``fault_types`` are documents of fault types of its own (``model.authored.fault``)."""

    title: str
    description: str = ""
    brief: str = ""
    authors: tuple[Author, ...] = ()
    license: str = ""
    domain: str = "sre"
    tags: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    suspend: bool = False
    app: AppChoice
    faults: tuple[FaultUse, ...] = ()
    fault_types: tuple[dict[str, Any], ...] = ()
    noise: tuple[Noise, ...] = ()
    expect: Expect = Expect()
    ground_truth: GroundTruth = GroundTruth()
    solutions: tuple[Solution, ...] = ()
    decoys: tuple[Decoy, ...] = ()
    suppress: tuple[Suppression, ...] = ()

    @property
    def period(self) -> int:
        """The longest period of a recurring fault in seconds; 0 without one."""
        return max((use.recurrence.every_seconds for use in self.faults if use.recurrence), default=0)


class Scenario(Value, frozen=True, kw_only=True):
    """A scenario. ``name`` is ``metadata.name``, and the folder's name under ``catalog/scenarios``."""

    name: str
    spec: ScenarioSpec
