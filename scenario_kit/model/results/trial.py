"""Trials: a bounded run of a scenario as a short program of steps (docs/architecture.md)."""

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

#: What a trial is for, on those of a campaign.
PURPOSE_LABEL: Final = f"{GROUP}/purpose"
#: The scenario whose campaign a trial belongs to: whoever cancels a campaign deletes by it.
CAMPAIGN_LABEL: Final = f"{GROUP}/campaign"
#: The Validation that a trial, or a report, belongs to.
VALIDATION_LABEL: Final = f"{GROUP}/validation"
#: On a trial that reaches beyond its app, so that no other may begin while it is under way.
ALONE_LABEL: Final = f"{GROUP}/alone"

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
TrialOutcome = Literal["Held", "Broken", "Infra"]
#: Whether the time of a trial is its own, or the wall clock's.
ClockMode = Literal["Wall", "Virtual"]


class TrialStep(Value, frozen=True, kw_only=True):
    """One step. ``use`` and ``name`` say what a change step executes; of ``Undo``, ``name`` is the object that
    is put back to what it was before the fault in ``faults``.

    ``faults`` and ``except_`` narrow inject; of expectStillFiring, ``faults`` are those whose alerts are asked about,
    of expectAlerts those that were left out.
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
    """A named list of changes that a change step can execute: a solution, decoy, cheat or fix."""

    use: str
    name: str
    solution: Solution


class Runbook(Value, frozen=True, kw_only=True):
    """A scenario, resolved and rendered: everything a trial needs, so that a catalogue upgrade cannot change it.

    ``namespace`` is where the app is; ``namespaces`` are the real names of further ones that it uses, by the symbolic
    ones that references spell. ``requires`` are capabilities that options of the app need, by what asks for them.
    ``usual`` is how the load is set where it is the scenario's own, by variable or feature flag.
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
        """Return this runbook as a Trial carries it; the same runbook gives the same text."""
        return base64.b64encode(gzip.compress(self.to_bytes(), 6, mtime=0)).decode()

    @property
    def everywhere(self) -> tuple[str, ...]:
        """The real names of all namespaces of the app, the one where users enter it first."""
        return (self.namespace, *self.namespaces.values())

    @property
    def reach(self) -> frozenset[str]:
        """The real names of all namespaces in which chaos may act: the app's, and those that a fault declares."""
        return list_declared(need for f in self.faults for need in f.requires) | {*self.everywhere}

    @property
    def outcome(self) -> Outcome:
        """What a solver should conclude; where there are no faults, nothing is broken."""
        return self.ground_truth.outcome if self.faults else "NoIncident"

    def fault(self, name: str) -> Fault:
        """Return the fault of that name; every name in a runbook was resolved when it was rendered."""
        return next(f for f in self.faults if f.name == name)

    def procedure(self, use: str, name: str) -> Procedure:
        """Return the procedure that a change step names."""
        return next(p for p in self.procedures if (p.use, p.name) == (use, name))


def make_trial_reference(name: str, namespace: str = MANAGEMENT_NAMESPACE) -> Reference:
    """Make the Trial of that name."""
    return Reference("Trial", name, namespace, GROUP)


class TrialSpec(Value, frozen=True, kw_only=True):
    """``spec`` of a Trial; immutable.

    ``resolved`` is the Runbook as gzipped JSON in base64: the API server writes the whole object with every change of
    its status, and a rendered app is two hundred kilobytes of plain JSON.
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
        """Return the runbook inside.

        Raises:
            InfrastructureError: it has another form than this scenario-kit writes.
        """
        try:
            return Runbook.from_json(msgspec.json.decode(gzip.decompress(base64.b64decode(self.resolved))))
        except (msgspec.MsgspecError, ValueError, OSError, EOFError, zlib.error) as problem:
            raise InfrastructureError(
                f"the trial was resolved by another scenario-kit than this one: {problem}",
                fix="delete it, and run it again once command and operator have the same version",
            ) from problem


class StepStatus(Value, frozen=True, kw_only=True):
    """What became of a step, whose text is its kind and its name. Times are on the trial's clock."""

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
        """What the step is about, as far as its text has room for it."""
        return self.step.partition(" ")[2]
