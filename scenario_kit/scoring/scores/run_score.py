"""Compute all metrics of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from scenario_kit.model.base import Value
from scenario_kit.scoring.entities.answer import SolverAnswer
from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.graph.chain import (
    list_model_path,
    list_truth_paths,
    match_chain,
    measure_edge_coverage,
    order_answer,
)
from scenario_kit.scoring.graph.component_identification import identify_component
from scenario_kit.scoring.graph.locate import Locator
from scenario_kit.scoring.graph.ntam import compute_corrected, compute_public
from scenario_kit.scoring.graph.propagation import order_truth
from scenario_kit.scoring.graph.proximity import measure_claim_hops, measure_proximity
from scenario_kit.scoring.graph.topology import Topology
from scenario_kit.scoring.matching.matcher import MatchDecision, TruthIndex, build_truth_index, match_claims
from scenario_kit.scoring.metrics.escalation import score_escalation
from scenario_kit.scoring.metrics.finops import match_resources
from scenario_kit.scoring.metrics.grades import (
    CHECKLIST_PASS,
    average_reasoning,
    compute_partial_reasoning,
    score_checklist,
)
from scenario_kit.scoring.metrics.precision_recall import average_hits, count_claims, count_first_claims, measure_hit
from scenario_kit.scoring.runs.record import AnswerState, RunRecord
from scenario_kit.scoring.scores.definitions import DEPTHS
from scenario_kit.scoring.scores.record_metrics import measure_record
from scenario_kit.scoring.scores.settings import ScoreSettings

_NO_ANSWER = SolverAnswer()


class RunScore(Value, frozen=True, kw_only=True, omit_defaults=False):
    """The scores of a run and the decisions behind them.

    ``correct`` means an exactly right diagnosis, or no claim on a control. ``claimed`` is None without a usable answer.
    ``roots`` are the classes that had to be named.
    """

    incident: str
    trial: str
    control: bool
    state: AnswerState
    problem: str = ""
    correct: bool = False
    claimed: bool | None = None
    roots: tuple[str, ...] = ()
    values: dict[str, float] = {}
    decisions: tuple[MatchDecision, ...] = ()


class TruthContext(msgspec.Struct, frozen=True):
    """The ground truth and topology of an incident, prepared for many runs.

    ``digest`` is that of the scenario's version, empty if it is unknown.
    """

    index: TruthIndex
    topology: Topology | None = None
    locator: Locator | None = None
    digest: str = ""

    @property
    def control(self) -> bool:
        """Return whether this is a control, for which any claim is wrong."""
        return self.index.truth.outcome != "Incident"


def prepare_truth(truth: IncidentTruth, topology: Topology | None = None, digest: str = "") -> TruthContext:
    """Prepare a ground truth for many runs; ``digest`` is that of the scenario's version."""
    index = build_truth_index(truth)
    return TruthContext(index, topology, Locator(topology, index) if topology is not None else None, digest)


def score_run(context: TruthContext, record: RunRecord, settings: ScoreSettings) -> RunScore:
    """Score a run. Without a usable answer, answer metrics are 0 and record metrics still count."""
    answer = record.answer or _NO_ANSWER
    usable = record.state in ("Answered", "Empty")
    claimed = bool(answer.claims or answer.resources) if usable else None
    decisions = match_claims(context.index, answer.claims, settings.policy)
    values = {} if context.control else _score_answer(context, answer, decisions, settings)
    correct = claimed is False if context.control else _is_right(values)
    return RunScore(
        incident=record.incident, trial=record.trial, control=context.control, state=record.state,
        problem=record.problem, correct=correct, claimed=claimed, decisions=decisions,
        roots=tuple(each.id for each in context.index.roots),
        values=values
        | measure_record(context.index, record, context.locator, settings)
        | _score_escalation(context, record, values)
        | dict(_score_grades(context, record, decisions)),
    )  # fmt: skip


def _score_escalation(context: TruthContext, record: RunRecord, values: Mapping[str, float]) -> dict[str, float]:
    """Score a handover with the diagnosis that came along; of a run that ended otherwise, there is only the rate."""
    if record.stop is None:
        return {}
    if record.escalation is None:
        return {"escalation.rate": 0.0}
    diagnosis = values.get("root_cause_f1", values.get("root_cause_resource", 0.0))
    needed = not context.control and not record.resolved
    found = score_escalation(context.index, record.escalation, diagnosis, order_truth(context.index), needed=needed)
    return {
        "escalation.rate": 1.0,
        "escalation.routing": found.routing,
        "escalation.handover": found.handover,
        "escalation.score": found.value,
    }


def _score_grades(
    context: TruthContext, record: RunRecord, decisions: Sequence[MatchDecision]
) -> Iterator[tuple[str, float]]:
    """Score the grades of a judge; claims that it did not grade have grade 0, and controls have no diagnosis."""
    if record.grades is None or context.control:
        return
    if record.grades.checklist is not None:
        value = score_checklist(record.grades.checklist)
        yield "checklist", value
        yield "checklist.passed", float(value >= CHECKLIST_PASS)
    if record.grades.reasoning is not None and context.index.roots:
        grades = [record.grades.reasoning.get(each.claim, 0.0) for each in decisions]
        right = [grade for grade, each in zip(grades, decisions, strict=True) if each.verdict == "RootCause"]
        yield "root_cause_reasoning", average_reasoning(right)
        partial = compute_partial_reasoning(grades, measure_claim_hops(context.index, decisions))
        yield "root_cause_reasoning_partial", partial


def _is_right(values: Mapping[str, float]) -> bool:
    """Return whether a diagnosis is exactly right; for cost incidents, whether all resources are named."""
    return values.get("fault_localisation", values.get("root_cause_resource", 0.0)) == 1.0


def _score_answer(
    context: TruthContext, answer: SolverAnswer, decisions: tuple[MatchDecision, ...], settings: ScoreSettings
) -> dict[str, float]:
    values: dict[str, float] = {}
    index = context.index
    if index.truth.resources:
        values["root_cause_resource"] = match_resources(index.truth.resources, answer.resources)
    if not index.roots:
        return values
    return (
        values
        | _score_claims(index, decisions, settings)
        | _score_chain(index, answer)
        | _score_graph(context, answer, decisions, settings)
    )


def _score_claims(index: TruthIndex, decisions: tuple[MatchDecision, ...], settings: ScoreSettings) -> dict[str, float]:
    roots, policy = len(index.roots), settings.policy
    counts = count_claims(decisions, roots, policy)
    values = {
        "recall_gated_precision": counts.recall_gated_precision,
        "root_cause_precision": counts.precision,
        "root_cause_recall": counts.recall,
        "root_cause_f1": counts.f1,
        "fault_localisation": float(counts.recall_gated_precision == 1.0),
        "localisation_accuracy": counts.localisation_accuracy,
        "avg@5": average_hits(decisions, 5),
    }
    for k in DEPTHS:
        first = count_first_claims(decisions, roots, policy, k)
        values |= {f"precision@{k}": first.precision, f"recall@{k}": first.recall, f"f1@{k}": first.f1}
        values[f"hit@{k}"] = measure_hit(decisions, k)
    return values


def _score_chain(index: TruthIndex, answer: SolverAnswer) -> dict[str, float]:
    model = list_model_path(index, answer)
    chain = match_chain(model, list_truth_paths(index))
    values = {"chain.precision": chain.precision, "chain.recall": chain.recall, "chain.f1": chain.f1}
    for key, value in (
        ("edge_coverage", measure_edge_coverage(index, model)),
        ("component_identification", identify_component(index, model)),
    ):
        values |= {} if value is None else {key: value}
    return values


def _score_graph(
    context: TruthContext, answer: SolverAnswer, decisions: tuple[MatchDecision, ...], settings: ScoreSettings
) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, by_length in (("proximity_no_fp", False), ("proximity_with_fp", True)):
        near = measure_proximity(context.index, decisions, settings.policy, by_length=by_length)
        values |= {f"{key}.precision": near.precision, f"{key}.recall": near.recall, f"{key}.f1": near.f1}
    if context.topology is None or context.locator is None:
        return values
    locator = context.locator
    for key, truth, named in (
        ("fl", [each.id for each in context.index.roots], list(answer.claims)),
        ("fpc", order_truth(context.index), order_answer(answer)),
    ):
        arguments = (context.topology, locator.list_classes(truth), locator.locate_all(named), settings.ntam)
        values |= {
            f"ntam.{key}.public": compute_public(*arguments),
            f"ntam.{key}.corrected": compute_corrected(*arguments),
        }
    return values
