"""Scores of runs together: every metric is defined, failures count, and the evaluator's file has the same numbers."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import msgspec
import pytest

from scenario_kit.scoring.entities.answer import AnswerEdge, SolverAnswer
from scenario_kit.scoring.entities.truth import CausalEdge, FinopsResource, IncidentTruth
from scenario_kit.scoring.files.evaluator import build_evaluator_result, read_evaluator_result
from scenario_kit.scoring.files.source import parse_source
from scenario_kit.scoring.metrics.escalation import Escalation
from scenario_kit.scoring.metrics.grades import JudgeGrades
from scenario_kit.scoring.metrics.safeguards import SafeguardOutcome
from scenario_kit.scoring.runs.record import RunRecord, RunTimes, ToolCall
from scenario_kit.scoring.runs.usage import ModelPrice, PriceList, TokenCounts
from scenario_kit.scoring.scores.definitions import BY_KEY, METRICS
from scenario_kit.scoring.scores.run_score import prepare_truth
from scenario_kit.scoring.scores.settings import ScoreSettings
from scenario_kit.scoring.scores.summary import ScoreReport, score_runs
from tests.scoring.shop import shop
from tests.scoring.truths import group

TRUTH = IncidentTruth(
    incident="down", steps=2,
    groups=(
        group("payment", "shop/Deployment/payment", root=True), group("checkout", "shop/Deployment/checkout"),
        group("frontend", "shop/Service/frontend"),
    ),
    edges=(
        CausalEdge(source="payment", target="checkout", effect="errors"),
        CausalEdge(source="checkout", target="frontend", effect="errors"),
    ),
)  # fmt: skip
QUIET = IncidentTruth(incident="quiet", outcome="NoIncident")
RIGHT = SolverAnswer(
    claims=("shop/Deployment/payment",),
    chain=("shop/Deployment/payment",),
    edges=(
        AnswerEdge(source="shop/Deployment/payment", target="shop/Deployment/checkout"),
        AnswerEdge(source="shop/Deployment/checkout", target="shop/Service/frontend"),
    ),
)
WRONG = SolverAnswer(claims=("shop/Deployment/ad",), chain=("shop/Deployment/ad",))
PRICES = PriceList(id="p", date=date(2026, 11, 25), models={"m": ModelPrice(input=2, cached=0.2, output=10)})


def run(answer: SolverAnswer | None, incident: str = "down", **more: Any) -> RunRecord:
    state = "Missing" if answer is None else "Answered" if answer.claims or answer.resources else "Empty"
    return RunRecord(**{"incident": incident, "trial": "1", "answer": answer, "state": state} | more)


def score(*runs: RunRecord, repeats: int = 1, truths: tuple[IncidentTruth, ...] = (TRUTH,)) -> ScoreReport:
    settings = ScoreSettings(repeats=repeats, prices=PRICES)
    return score_runs({truth.incident: prepare_truth(truth, shop()) for truth in truths}, runs, settings)


FULL = run(
    RIGHT, model="m", turns=7, resolved=True, times=RunTimes(wall=100, detection=30, diagnosis=60, mitigation=90),
    tokens=TokenCounts(input=100_000, cached=20_000, output=5_000),
    tool_calls=(ToolCall(name="kubectl", text="logs deploy/payment ad"), ToolCall(name="x", valid=False, ok=False)),
    changed=("shop/Deployment/payment", "shop/Deployment/cart"),
    safeguards=(SafeguardOutcome(name="pvc", severity="Recoverable", held=False),),
    optimum={"cpu_cost": (0.62, 0.5)},
    grades=JudgeGrades(
        reasoning={"shop/Deployment/payment": 0.5},
        checklist={"localisation": (True,), "characterisation": (False,), "scope": (True,)},
    ),
)  # fmt: skip


def test_correct_run_scores_1_in_every_metric() -> None:
    handed_over = Escalation(to="shop/Deployment/payment")
    report = score(FULL, run(RIGHT, "cost", stop="escalated", escalation=handed_over), truths=(
        TRUTH,
        IncidentTruth(incident="cost", resources=(FinopsResource(name="EC2", type="Service"),)),
    ))  # fmt: skip
    assert set(report.metrics) == {metric.key for metric in METRICS if metric.scope != "Summary"}
    assert len(BY_KEY) == len(METRICS)
    down = report.runs[0]
    assert down.correct
    perfect = {m.key for m in METRICS if m.scope == "Answer"} - {"root_cause_resource"}
    assert {key: down.values[key] for key in perfect} == dict.fromkeys(perfect, pytest.approx(1.0))


def test_record_values_become_metrics() -> None:
    values = score(FULL).runs[0].values
    assert values["cost"] == pytest.approx(0.254)
    assert (values["coverage"], values["detour"]) == (pytest.approx(1 / 3), 1)
    assert (values["invalid_call_rate"], values["failed_call_rate"]) == (0.5, 0.5)
    assert (values["blast_radius.objects"], values["blast_radius.share"]) == (1, 4 / 10)
    assert values["safeguards.outcome"] == pytest.approx(0.1**0.5)
    assert values["cost_proximity"] == pytest.approx(0.76)
    assert (values["checklist"], values["checklist.passed"]) == (pytest.approx(0.67), 0)
    assert (values["root_cause_reasoning"], values["root_cause_reasoning_partial"]) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("grades", "right", "partial"),
    [
        ({"shop/Deployment/payment": 0.5, "shop/Service/frontend": 1.0}, 0.5, 0.5),
        ({"shop/Service/frontend": 1.0}, 0.0, 1 / 3),
        ({"shop/Deployment/ad": 1.0}, 0.0, 0.0),
    ],
)
def test_grades_of_reasoning_count_by_the_distance_of_their_claims(
    grades: dict[str, float], right: float, partial: float
) -> None:
    claims = ("shop/Deployment/payment", "shop/Service/frontend", "shop/Deployment/ad")
    answer = SolverAnswer(claims=claims, chain=claims)
    values = score(run(answer, grades=JudgeGrades(reasoning=grades))).runs[0].values
    assert (values["root_cause_reasoning"], values["root_cause_reasoning_partial"]) == (right, pytest.approx(partial))
    assert "checklist" not in values


def test_runs_without_grades_count_as_0_where_others_are_graded() -> None:
    report = score(FULL, run(None, trial="2"))
    assert report.metrics["checklist"].mean == pytest.approx(0.335)
    assert report.metrics["root_cause_reasoning"].mean == 0.25


def test_controls_have_no_scores_of_grades() -> None:
    grades = JudgeGrades(
        reasoning={}, checklist={"localisation": (True,), "characterisation": (True,), "scope": (True,)}
    )
    values = score(run(SolverAnswer(), "quiet", grades=grades), truths=(QUIET,)).runs[0].values
    assert not {"checklist", "root_cause_reasoning"} & values.keys()


def test_documented_repairs_have_no_blast_radius() -> None:
    truth = msgspec.structs.replace(TRUTH, repaired=(group("cart", "shop/Deployment/cart"),))
    assert score(FULL, truths=(truth,)).runs[0].values["blast_radius.objects"] == 0


def test_failed_runs_stay_in_every_denominator() -> None:
    report = score(FULL, run(None), run(SolverAnswer()), repeats=4)
    assert report.without_answer == 3
    assert [one.trial for one in report.runs][-1] == "missing-1"
    for key in ("recall_gated_precision", "ntam.fpc.corrected", "mitigation", "coverage"):
        estimate = report.metrics[key]
        assert estimate.runs == 4
        assert estimate.mean == pytest.approx(score(FULL).metrics[key].mean / 4)
    assert {k: each.mean for k, each in report.pass_at_k.items()} == {"1": 0.25, "2": 0.5, "3": 0.75, "4": 1.0}
    assert report.pass_at_k["1"].method == "Wilson"
    found = report.times["time_to_diagnosis"]
    assert (found.mean, found.successes, found.restricted) == (60, 1, (60 + 3 * 600) / 4)


def test_wrong_diagnosis_has_no_time() -> None:
    found = score(run(WRONG, times=RunTimes(diagnosis=5), resolved=False)).times
    assert (found["time_to_diagnosis"].mean, found["time_to_mitigation"].successes) == (None, 0)
    assert "time_to_detection" not in found


def test_controls_are_scored_by_claims() -> None:
    silent = run(SolverAnswer(), "quiet")
    report = score(FULL, silent, run(WRONG, "quiet"), run(None, "quiet"), truths=(TRUTH, QUIET))
    found = report.detection
    assert found.controls == 3
    shares = (found.hallucination_rate, found.specificity, found.sensitivity)
    assert [each.mean for each in shares if each] == [1 / 3, 1 / 3, 1.0]
    assert [one.correct for one in report.runs] == [True, True, False, False]
    assert report.metrics["recall_gated_precision"].runs == 1
    assert "recall_gated_precision" not in report.runs[1].values


def test_complexity_of_a_truth() -> None:
    assert score(FULL).complexity == {"down": pytest.approx((2 * 2 * 2) ** (1 / 3))}


def test_missing_topology_gives_no_ntam() -> None:
    report = score_runs({"down": prepare_truth(TRUTH)}, [FULL], ScoreSettings())
    assert not [key for key in report.metrics if key.startswith("ntam")]
    assert "detour" not in report.metrics


def test_file_of_the_evaluator() -> None:
    report = score(FULL, run(WRONG, trial="2"), run(None, trial="3"))
    result = json.loads(json.dumps(build_evaluator_result(report, "truth", "outputs")))
    assert set(result) == {"raw_results", "statistics", "config"}
    overall = result["statistics"]["overall"]
    assert overall["root_cause_entity_f1"]["mean"] == pytest.approx(1 / 3)
    assert overall["root_cause_entity_f1"]["stderr"] is None
    assert overall["total_bad_runs"] == 1
    one = result["statistics"]["per_incident"]["down"]["fault_localization_component_identification"]
    assert (one["n"], one["pass@1"], round(one["stderr"], 4)) == (3, pytest.approx(1 / 3), 0.2722)
    entity = result["raw_results"][0]["scores"]["root_cause_entity"]
    assert entity["gt_entities"] == ["payment"]
    assert entity["predicted_entities"] == [
        {"entity": "shop/Deployment/payment", "matches_gt": True, "matched_to": "payment"}
    ]
    again = read_evaluator_result(parse_source(json.dumps(result), "results.json"))
    assert [(one.incident, one.trial) for one in again] == [("down", "1"), ("down", "2"), ("down", "3")]
    assert again[0].values["root_cause_entity_k@1_f1"] == 1.0
    assert again[1].matched == {"shop/Deployment/ad": False}


def test_report_can_be_written_and_read() -> None:
    report = score(FULL, run(None))
    assert ScoreReport.from_json(json.loads(json.dumps(report.to_json()))) == report
