"""Scores of escalations: need, recipient, and included facts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.scoring.entities.answer import SolverAnswer
from scenario_kit.scoring.entities.truth import CausalEdge, IncidentTruth
from scenario_kit.scoring.files.run_records import read_run_record
from scenario_kit.scoring.files.source import parse_source
from scenario_kit.scoring.matching.matcher import build_truth_index
from scenario_kit.scoring.metrics.escalation import Escalation, score_escalation
from scenario_kit.scoring.runs.record import RunRecord, RunTimes
from scenario_kit.scoring.scores.run_score import prepare_truth
from scenario_kit.scoring.scores.settings import ScoreSettings
from scenario_kit.scoring.scores.summary import ScoreReport, score_runs
from tests.scoring.truths import PROPERTY, group

TRUTH = IncidentTruth(
    incident="down",
    groups=(
        group("cart", "shop/Deployment/cart", root=True), group("frontend", "shop/Deployment/frontend"),
        group("bystander", "shop/Deployment/currency"),
    ),
    edges=(CausalEdge(source="cart", target="frontend", effect="errors"),),
)  # fmt: skip
QUIET = IncidentTruth(incident="quiet", outcome="NoIncident")
CART, FRONTEND = "shop/Deployment/cart", "shop/Deployment/frontend"
BOTH = SolverAnswer(claims=(CART, "shop/Deployment/ad"))


def escalate(to: str, answer: SolverAnswer | None = None, incident: str = "down", **more: Any) -> RunRecord:
    state = "Answered" if answer else "Missing"
    given: dict[str, Any] = {"incident": incident, "trial": "1", "answer": answer, "state": state, "stop": "escalated"}
    return RunRecord(**given | {"escalation": Escalation(to=to, reason="not mine")} | more)


def score(*runs: RunRecord) -> ScoreReport:
    contexts = {truth.incident: prepare_truth(truth) for truth in (TRUTH, QUIET)}
    truths = {run.incident: contexts[run.incident] for run in runs}
    return score_runs(truths, runs, ScoreSettings(repeats=1))


def values(run: RunRecord) -> dict[str, float]:
    found = score(run).runs[0].values
    return {key.removeprefix("escalation."): value for key, value in found.items() if key.startswith("escalation.")}


@pytest.mark.parametrize(
    ("to", "answer", "expected"),
    [
        (CART, SolverAnswer(claims=(CART,)), (1.0, 1.0, 1.0)),
        (CART, None, (1.0, 0.0, 0.5)),
        (FRONTEND, BOTH, (0.5, 2 / 3, 7 / 12)),
        ("shop/Deployment/ad", BOTH, (0.0, 2 / 3, 1 / 3)),
        ("shop/Deployment/currency", None, (0.0, 0.0, 0.0)),
        ("the team of the cart", None, (0.0, 0.0, 0.0)),
        ("", SolverAnswer(claims=(CART,)), (0.0, 1.0, 0.5)),
    ],
)
def test_worked_numbers(to: str, answer: SolverAnswer | None, expected: tuple[float, float, float]) -> None:
    routing, handover, value = expected
    assert values(escalate(to, answer)) == pytest.approx(
        {"rate": 1.0, "routing": routing, "handover": handover, "score": value}
    )


def test_escalation_on_control_scores_zero() -> None:
    assert values(escalate(CART, incident="quiet")) == {"rate": 1.0, "routing": 0.0, "handover": 0.0, "score": 0.0}


def test_escalation_of_a_repaired_app_scores_zero() -> None:
    right = SolverAnswer(claims=(CART,))
    assert values(escalate(CART, right, resolved=True))["score"] == 0.0
    assert values(escalate(CART, right, resolved=False))["score"] == 1.0


def test_other_runs_only_have_escalation_rate() -> None:
    finished = RunRecord(incident="down", trial="1", answer=BOTH, state="Answered", stop="finish")
    assert values(finished) == {"rate": 0.0}
    assert values(RunRecord(incident="down", trial="1")) == {}


def test_escalation_times_cover_escalated_runs_only() -> None:
    runs = [escalate(CART, times=RunTimes(escalation=seconds)) for seconds in (60.0, 120.0)]
    runs += [RunRecord(incident="down", trial="3", stop="finish"), RunRecord(incident="down", trial="4", stop="cap")]
    report = score(*runs)
    times = report.times["time_to_escalation"]
    assert (times.mean, times.successes, times.runs) == (90.0, 2, 2)
    assert report.metrics["escalation.rate"].mean == 0.5


def read(data: dict[str, Any]) -> RunRecord:
    return read_run_record(parse_source(json.dumps(data), "r.json"))


def test_record_contains_the_escalation_target() -> None:
    data: dict[str, Any] = {
        "run_id": "1", "scenario": {"id": "down"}, "start": 1000.0, "end": 1060.0, "stop_reason": "escalated",
        "escalation": {"to": CART, "reason": "not mine"},
    }  # fmt: skip
    record = read(data)
    assert record.escalation == Escalation(to=CART, reason="not mine")
    assert record.times.escalation == 60.0
    del data["escalation"]
    assert read(data).escalation == Escalation()
    data["stop_reason"] = "finish"
    assert read(data).escalation is None


@PROPERTY
@given(to=st.text(max_size=30), diagnosis=st.floats(0, 1), needed=st.booleans())
def test_bounds(to: str, diagnosis: float, needed: bool) -> None:
    found = score_escalation(build_truth_index(TRUTH), Escalation(to=to), diagnosis, ("frontend",), needed=needed)
    assert 0 <= found.value <= 1
    assert needed or found.value == 0
    best = score_escalation(build_truth_index(TRUTH), Escalation(to=CART), diagnosis, ("frontend",), needed=needed)
    assert best.value >= found.value
