"""The result of a validation: trials, statistics, findings, verdict."""

from __future__ import annotations

import msgspec

from scenario_kit.model import AlertHistory, Finding, StepStatus, Value, Verdict
from scenario_kit.model.authored.scenario import Expect, GroundTruth
from scenario_kit.model.results.difficulty import Difficulty
from scenario_kit.model.results.evidence import Fingerprint, Onset
from scenario_kit.model.results.incident import Incident
from scenario_kit.model.runtime.observation import Passage
from scenario_kit.trial import TrialStatus


class TrialResult(Value, frozen=True, kw_only=True):
    """A finished trial with its evidence.

    Attributes:
        wall_seconds: its duration in wall time.
        assumed: values of the twin's assumptions; empty for the declared ones.
        injections: time of injection by fault; ``injected_at`` is the first one.
        signs: what a solver found at the end of hold, but not before (``observe.symptoms``).
        passages: traffic of silent components on the propagation path.
        placement: nodes of each workload's pods before the injection.
    """

    name: str
    purpose: str
    describe: str
    seed: int
    outcome: str
    wall_seconds: float = 0.0
    assumed: dict[str, float] = {}
    signs: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    placement: dict[str, tuple[str, ...]] = {}
    started_at: float | None = None
    injected_at: float | None = None
    injections: dict[str, float] = {}
    steps: tuple[StepStatus, ...] = ()
    findings: tuple[Finding, ...] = ()
    history: AlertHistory | None = None
    message: str = ""


class AlertSummary(Onset, frozen=True, kw_only=True):
    """An alert over the repeats: seconds from injection to onset; None if it never, or not always, fired.

    For must-fire alerts, times count from the same injection as the deadline.
    """

    proposed_seconds: float | None = None
    proposal: str = ""


class OrderSummary(Value, frozen=True, kw_only=True):
    """A propagation edge whose ends both alert, and the share of repeats in which the first end alerted first."""

    from_: str = msgspec.field(name="from")
    to: str
    share: float


class PassageSummary(Value, frozen=True, kw_only=True):
    """The traffic changes of a silent component of the propagation over the repeats, clearest first.

    ``requests`` is the number before the injection, ``signs`` what else an investigation finds about it.
    """

    entity: str
    n: int
    requests: int
    traces: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()


class Statistics(Value, frozen=True, kw_only=True):
    """Statistics of the paired repeats.

    Attributes:
        at_least: exact one-sided 95 % lower bound of the probability that a repeat holds.
        claims: the probability that a pass of this plan rules out.
        effective: equivalent number of independent repeats.
        placements: number of different pod placements.
        similarity: of the repeats' alerts, without MayFire and background ones.
    """

    n: int
    broken: int
    infra: int = 0
    at_least: float = 0.0
    claims: float = 0.0
    effective: float = 0.0
    similarity: float | None = None
    placements: int = 0
    alerts: tuple[AlertSummary, ...] = ()
    order: tuple[OrderSummary, ...] = ()
    passages: tuple[PassageSummary, ...] = ()


class Neighbour(Value, frozen=True, kw_only=True):
    """Another incident with the same alerts; ``margin`` is how far their repeats differ.

    ``here`` and ``there`` are signs found only in this incident, and only in the other one.
    """

    scenario: str
    margin: float
    same_answer: bool
    here: tuple[str, ...] = ()
    there: tuple[str, ...] = ()


class Lookalike(Value, frozen=True, kw_only=True):
    """A fault of the catalogue that raised the same alerts when tried alone; ``margin`` is how far they differ.

    ``same_place`` is set if its target belongs to a labelled cause. ``there`` are its effect checks that did not pass
    in this incident.
    """

    fault: str
    target: str
    margin: float
    same_place: bool = False
    there: tuple[str, ...] = ()


class Resemblance(Value, frozen=True, kw_only=True):
    """A comparison with the app's matrix: the number of trials with alerts, and those with the same alerts."""

    compared: int
    faults: tuple[Lookalike, ...] = ()


class Allowance(Value, frozen=True, kw_only=True):
    """A policy exception that a fault declares, with its reason."""

    fault: str
    allow: str
    because: str


class Validation(Value, frozen=True, kw_only=True):
    """A campaign with its verdict. ``n`` counts valid repeats, ``failures`` the broken ones among them.

    Expectations are included, so that a report needs nothing else. ``correction`` is what to change before running
    ``next``.
    """

    scenario: str
    incident: Incident | None = None
    path: str = ""
    digest: str = ""
    plan: str
    verdict: Verdict
    headline: str
    findings: tuple[Finding, ...] = ()
    trials: tuple[TrialResult, ...] = ()
    n: int = 0
    failures: int = 0
    statistics: Statistics | None = None
    difficulty: Difficulty | None = None
    fingerprint: Fingerprint | None = None
    identifiability: tuple[Neighbour, ...] = ()
    resemblance: Resemblance | None = None
    exceptions: tuple[Allowance, ...] = ()
    expect: Expect | None = None
    ground_truth: GroundTruth | None = None
    wall_seconds: float = 0.0
    data_plane: str = "Twin"
    correction: str = ""
    next: str = ""


def complete_from_status(
    base: TrialResult, status: TrialStatus, history: AlertHistory | None, injected_at: float | None, failure: str = ""
) -> TrialResult:
    """Add the status of a trial to its result; ``failure`` is why it was abandoned."""
    failed = next((s for s in status.steps if s.outcome in ("Broken", "Infra")), None)
    return msgspec.structs.replace(
        base,
        outcome=status.outcome or "Infra",
        started_at=status.started_at,
        injected_at=injected_at,
        steps=status.steps,
        findings=status.findings,
        history=history,
        message=failure or (failed.message if failed else ""),
    )
