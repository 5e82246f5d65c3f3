"""Trials: a bounded run of a scenario as a program of steps (docs/architecture.md)."""

from __future__ import annotations

import base64
import gzip
import zlib
from typing import Final, Literal

import msgspec

from scenario_kit.errors import InfrastructureError
from scenario_kit.model.authored.alert_rule import AlertRule, Windows
from scenario_kit.model.authored.app import App
from scenario_kit.model.authored.fault import Fault
from scenario_kit.model.authored.noise import NoiseSource
from scenario_kit.model.authored.scenario import Expect, GroundTruth, Outcome, Solution
from scenario_kit.model.base import Object, Value
from scenario_kit.model.chaos.reach import list_declared
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE, Reference
from scenario_kit.model.results.finding import Finding
from scenario_kit.model.runtime.observation import CheckResult

#: The purpose of a trial in a campaign.
PURPOSE_LABEL: Final = f"{GROUP}/purpose"
#: The scenario of a trial's campaign, by which a campaign can be cancelled.
CAMPAIGN_LABEL: Final = f"{GROUP}/campaign"
#: The Validation to which a trial or a report belongs.
VALIDATION_LABEL: Final = f"{GROUP}/validation"
#: Marks a trial that reaches beyond its app, and must run alone.
ALONE_LABEL: Final = f"{GROUP}/alone"

#: Suffix of the name of a fix that leaves out its changes to objects without a label.
APART: Final = ":apart"

StepKind = Literal[
    "deploy",
    "expectQuiet",
    "inject",
    "expectAlerts",
    "hold",
    "change",
    "undoChange",
    "expectCleared",
    "expectStillFiring",
    "expectUnresolved",
    "expectNoLeaks",
    "teardown",
    "expectClean",
]
#: Whether a trial has a clock of its own, or uses the wall clock.
ClockMode = Literal["Wall", "Virtual"]


class TrialStep(Value, frozen=True, kw_only=True):
    """A step of a trial.

    ``use`` and ``name`` select what a change step executes; for ``Undo``, ``name`` is the object to restore to its
    state before the fault in ``faults``.

    ``faults`` and ``except_`` restrict inject; for expectStillFiring ``faults`` are those whose alerts are checked, for
    expectAlerts those left out.
    """

    kind: StepKind
    faults: tuple[str, ...] = ()
    except_: tuple[str, ...] = msgspec.field(name="except", default=())
    use: Literal["", "Solution", "Decoy", "Cheat", "Fix", "RemoveFault", "Undo", "Wait", "Sham"] = ""
    name: str = ""
    seconds: int | None = None
    forever: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


class Procedure(Value, frozen=True, kw_only=True):
    """A named list of changes for a change step: a solution, decoy, cheat or fix."""

    use: str
    name: str
    solution: Solution


class Runbook(Value, frozen=True, kw_only=True):
    """A resolved and rendered scenario: everything that a trial needs, independent of later changes of the catalogue.

    ``namespace`` is the app's; ``namespaces`` are the real names of additional ones by symbolic name. ``requires`` are
    the capabilities that app options need, by option. ``usual`` are the scenario's own load settings, by variable or
    feature flag.
    """

    scenario: str
    digest: str
    app: App
    namespace: str
    namespaces: dict[str, str] = {}
    requires: dict[str, tuple[str, ...]] = {}
    users: int
    objects: tuple[Object, ...]
    rules: tuple[AlertRule, ...]
    windows: Windows
    faults: tuple[Fault, ...]
    expect: Expect
    ground_truth: GroundTruth
    procedures: tuple[Procedure, ...] = ()
    noise: tuple[NoiseSource, ...] = ()
    usual: dict[str, str] = {}

    def pack(self) -> str:
        """Return the runbook as stored in a Trial; equal runbooks give equal texts."""
        return base64.b64encode(gzip.compress(self.to_bytes(), 6, mtime=0)).decode()

    @classmethod
    def unpack(cls, packed: str) -> Runbook:
        """Return the runbook that was packed.

        Raises:
            InfrastructureError: another version of scenario-kit packed it.
        """
        try:
            return cls.from_json(msgspec.json.decode(gzip.decompress(base64.b64decode(packed))))
        except (msgspec.MsgspecError, ValueError, OSError, EOFError, zlib.error) as error:
            raise InfrastructureError(
                f"the trial was resolved by another version of scenario-kit: {error}",
                fix="delete it, and run it again with the same version of command and operator",
            ) from error

    @property
    def everywhere(self) -> tuple[str, ...]:
        """The real names of all the app's namespaces, the default one first."""
        return (self.namespace, *self.namespaces.values())

    @property
    def reach(self) -> frozenset[str]:
        """The real names of all namespaces in which chaos may act: the app's, and those that faults declare."""
        return list_declared(need for f in self.faults for need in f.requires) | {*self.everywhere}

    @property
    def outcome(self) -> Outcome:
        """The outcome; without faults it is NoIncident."""
        return self.ground_truth.outcome if self.faults else "NoIncident"

    def fault(self, name: str) -> Fault:
        """Return the fault of that name, which must exist."""
        return next(f for f in self.faults if f.name == name)

    def procedure(self, use: str, name: str) -> Procedure:
        """Return the procedure of a change step, which must exist."""
        return next(p for p in self.procedures if (p.use, p.name) == (use, name))


def make_trial_reference(name: str, namespace: str = MANAGEMENT_NAMESPACE) -> Reference:
    """Return the reference of a Trial."""
    return Reference("Trial", name, namespace, GROUP)


class TrialSpec(Value, frozen=True, kw_only=True):
    """``spec`` of a Trial; immutable.

    ``resolved`` is the Runbook as base64-encoded gzipped JSON: each status update rewrites the whole object, and a
    rendered app has two hundred kilobytes.
    """

    scenario: str
    digest: str
    plan: str = ""
    clock: ClockMode = "Virtual"
    seed: int = 0
    namespace: str
    steps: tuple[TrialStep, ...]
    resolved: str

    def runbook(self) -> Runbook:
        """Decode the runbook.

        Raises:
            InfrastructureError: another version of scenario-kit wrote it.
        """
        return Runbook.unpack(self.resolved)


class StepStatus(Value, frozen=True, kw_only=True):
    """The status of a step; ``step`` is its kind and name. Times are on the trial's clock."""

    index: int
    step: str
    outcome: Literal["Running", "Held", "Broken", "Infra", "Skipped"]
    started_at: float
    finished_at: float | None = None
    message: str = ""
    findings: tuple[Finding, ...] = ()
    checks: tuple[CheckResult, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the step, a ``StepKind``."""
        return self.step.partition(" ")[0]

    @property
    def name(self) -> str:
        """The name of the step, possibly truncated."""
        return self.step.partition(" ")[2]
