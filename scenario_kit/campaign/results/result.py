"""What a validation found: its trials, its numbers, its findings, its verdict."""

from __future__ import annotations

import msgspec

from scenario_kit.model import AlertHistory, Finding, StepStatus, Value, Verdict
from scenario_kit.model.authored.scenario import Expect, GroundTruth
from scenario_kit.model.results.difficulty import Difficulty
from scenario_kit.model.results.evidence import Fingerprint
from scenario_kit.model.results.incident import Incident
from scenario_kit.model.runtime.observation import Passage
from scenario_kit.trial import TrialStatus


class TrialResult(Value, frozen=True, kw_only=True):
    """One finished trial, with its evidence. ``wall_seconds`` is what it cost.

    ``assumed`` are the values that the twin's assumptions had in it; none where they were those of the definition.
    ``injections`` are when each fault was injected, by name, and ``injected_at`` when the first was.
    ``signs`` are what a solver found beside alerts at the end of hold, and not before (``observe.symptoms``),
    ``passages`` what went through the silent components of the propagation until then. ``placement`` are the nodes of
    each workload's pods before anything was broken.
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


class AlertSummary(Value, frozen=True, kw_only=True):
    """One alert over the repeats: seconds from injection to its onset; None where it never came, or not always.

    Of one that must fire, they count from the injection from which its deadline does.
    """

    alert: str
    declared: str
    fired: int
    n: int
    median_seconds: float | None = None
    p95_seconds: float | None = None
    within_seconds: int | None = None
    proposed_seconds: float | None = None
    proposal: str = ""


class OrderSummary(Value, frozen=True, kw_only=True):
    """An edge of the propagation whose ends both alert: the share of repeats in which the first end alerted first."""

    from_: str = msgspec.field(name="from")
    to: str
    share: float


class PassageSummary(Value, frozen=True, kw_only=True):
    """A component of the propagation that raised no alert, over the repeats: how its work changed, the plainest first.

    ``requests`` were finished before anything was broken, ``signs`` are what else an investigation finds about it.
    """

    entity: str
    n: int
    requests: int
    traces: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()


class Statistics(Value, frozen=True, kw_only=True):
    """Numbers of the paired repeats.

    ``at_least`` is the exact one-sided 95 % lower bound of the chance that a repeat holds, ``claims`` what a pass of
    this plan rules out, ``effective`` how many independent repeats these are worth on one cluster, ``placements`` on
    how many different placements of the pods they ran. ``similarity`` is that of the repeats in their alerts, without
    those that are declared as MayFire or chronic.
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
    """Another incident of the catalogue whose alerts are the same: ``margin`` is how far their repeats differ.

    ``here`` and ``there`` are the signs that a solver finds only in this one, and only in the other one.
    """

    scenario: str
    margin: float
    same_answer: bool
    here: tuple[str, ...] = ()
    there: tuple[str, ...] = ()


class Lookalike(Value, frozen=True, kw_only=True):
    """A fault of the catalogue that raised the same alerts when it was tried alone: ``margin`` is how far they differ.

    ``same_place`` is whether its target belongs to a labelled cause. ``there`` is what its effect checks found there,
    and nobody found here.
    """

    fault: str
    target: str
    margin: float
    same_place: bool = False
    there: tuple[str, ...] = ()


class Resemblance(Value, frozen=True, kw_only=True):
    """An incident against the matrix of its app: of the ``compared`` trials with alerts, those with the same ones."""

    compared: int
    faults: tuple[Lookalike, ...] = ()


class Allowance(Value, frozen=True, kw_only=True):
    """An exception from what changes may usually write, which a fault declares, and why."""

    fault: str
    allow: str
    because: str


class Validation(Value, frozen=True, kw_only=True):
    """A campaign and its verdict. ``n`` counts valid repeats, ``failures`` the broken ones among them.

    What was promised stands beside what was seen, so that a report needs nothing else. ``correction`` is what to change
    before ``next``, the command to run next.
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
    base: TrialResult,
    status: TrialStatus,
    history: AlertHistory | None,
    injected_at: float | None,
    trouble: str = "",
) -> TrialResult:
    """Complete a planned trial with what its status says; ``trouble`` is why it did not end by itself."""
    failed = next((s for s in status.steps if s.outcome in ("Broken", "Infra")), None)
    return msgspec.structs.replace(
        base,
        outcome=status.outcome or "Infra",
        started_at=status.started_at,
        injected_at=injected_at,
        steps=status.steps,
        findings=status.findings,
        history=history,
        message=trouble or (failed.message if failed else ""),
    )
