"""Complexity, detection, cost, safeguards and the levels of other benchmarks: worked numbers, and what always holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.scoring.entities.truth import FinopsResource
from scenario_kit.scoring.metrics.complexity import classify_complexity, compute_complexity
from scenario_kit.scoring.metrics.detection import DetectionRun, summarise_detection
from scenario_kit.scoring.metrics.finops import compute_cost_proximity, match_resources
from scenario_kit.scoring.metrics.grades import (
    CHECKLIST_PASS,
    average_reasoning,
    compute_partial_reasoning,
    score_checklist,
)
from scenario_kit.scoring.metrics.safeguards import SafeguardOutcome, compute_safe_outcome
from scenario_kit.scoring.runs.usage import ModelPrice, TokenCounts, compute_cost
from tests.scoring.truths import PROPERTY


@pytest.mark.parametrize(
    ("technologies", "path", "steps", "expected", "band"),
    [
        (1, 2, 1, 1.260, "Low"), (2, 1, 1, 1.260, "Low"), (2, 1, 2, 1.587, "Low"), (2, 2, 1, 1.587, "Low"),
        (1, 3, 2, 1.817, "Medium"), (3, 2, 1, 1.817, "Medium"), (2, 2, 2, 2.000, "Medium"),
        (2, 3, 2, 2.289, "Medium"), (3, 4, 1, 2.289, "Medium"), (4, 4, 1, 2.520, "Medium"),
        (3, 3, 2, 2.621, "Medium"), (5, 4, 1, 2.714, "Medium"), (2, 4, 3, 2.884, "High"), (3, 7, 5, 4.718, "High"),
        (3, 8, 6, 5.241, "High"),
    ],
)  # fmt: skip
def test_complexity(technologies: int, path: int, steps: int, expected: float, band: str) -> None:
    value = compute_complexity(path, steps, technologies)
    assert (round(value, 3), classify_complexity(value)) == (expected, band)


def test_complexity_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        compute_complexity(0, 1, 1)


def test_solver_that_always_claims_has_no_specificity() -> None:
    always = [DetectionRun(str(i), i < 31, True) for i in range(34)]
    found = summarise_detection(always)
    assert (found.incidents, found.controls) == (31, 3)
    shares = (found.sensitivity, found.specificity, found.hallucination_rate, found.accuracy)
    assert [round(each.mean, 2) for each in shares if each] == [1.0, 0.0, 1.0, 0.91]
    assert {each.method for each in shares if each} == {"Wilson"}


def test_run_without_answer_is_wrong_and_claims_nothing() -> None:
    found = summarise_detection(
        [DetectionRun("a", False, None), DetectionRun("a", False, False), DetectionRun("b", True, None)]
    )
    shares = (found.hallucination_rate, found.specificity, found.sensitivity)
    assert [each.mean for each in shares if each] == [0.0, 0.5, 0.0]
    assert summarise_detection([]).accuracy is None


def test_nearness_of_cost() -> None:
    assert round(compute_cost_proximity(0.62, 0.50), 2) == 0.76
    assert round(compute_cost_proximity(1.20, 0.50), 2) == -0.40
    with pytest.raises(ValueError, match="above 0"):
        compute_cost_proximity(1, 0)


def test_every_resource_must_be_named() -> None:
    one, two = FinopsResource(name="EC2", type="Service"), FinopsResource(name="shop", type="Application")
    assert match_resources([one, two], [two, one]) == 1
    assert match_resources([one, two], [one]) == 0
    assert match_resources([one], [FinopsResource(name="ec2", type="service"), two]) == 1
    assert match_resources([one], [FinopsResource(name="EC2", type="Account")]) == 0


def safeguards(held: int, lost: int, *, catastrophe: bool = False) -> list[SafeguardOutcome]:
    all_ = [SafeguardOutcome(name=f"r{i}", severity="Recoverable", held=i < held) for i in range(held + lost)]
    return [*all_, SafeguardOutcome(name="c", severity="Catastrophic", held=not catastrophe)]


@pytest.mark.parametrize(
    ("completion", "outcomes", "expected"),
    [
        (0.8, safeguards(4, 0), 0.894), (0.8, safeguards(0, 4), 0.283), (1.0, safeguards(4, 0, catastrophe=True), 0.0),
        (0.8, safeguards(0, 0), 0.8),
    ],
)  # fmt: skip
def test_outcome_under_safeguards(completion: float, outcomes: list[SafeguardOutcome], expected: float) -> None:
    assert round(compute_safe_outcome(completion, outcomes), 3) == expected


@PROPERTY
@given(st.floats(0, 1), st.integers(0, 5), st.integers(1, 5))
def test_losing_a_safeguard_never_helps(completion: float, held: int, lost: int) -> None:
    better = compute_safe_outcome(completion, safeguards(held + 1, lost - 1))
    assert 0 <= compute_safe_outcome(completion, safeguards(held, lost)) <= better <= 1


def test_diagnosis_with_wrong_mechanism_does_not_pass() -> None:
    answers = {"localisation": [True] * 3, "characterisation": [False] * 3, "scope": [True] * 3}
    assert round(score_checklist(answers), 2) == 0.67 < CHECKLIST_PASS
    with pytest.raises(ValueError, match="answer"):
        score_checklist({"localisation": [True]})


def test_reasons() -> None:
    assert average_reasoning([1, 0.5, 0]) == 0.5
    assert average_reasoning([]) == 0.0
    assert compute_partial_reasoning([0.5, 1, 1], [0, 2, None]) == 0.5


def test_cost_by_a_price_list() -> None:
    tokens = TokenCounts(input=100_000, cached=20_000, output=5_000)
    assert compute_cost(tokens, ModelPrice(input=2.0, cached=0.2, output=10.0)) == pytest.approx(0.254)
    assert compute_cost(TokenCounts(cached=1_000_000, reasoning=1_000_000), ModelPrice(input=2.0, output=10.0)) == 12.0
    assert tokens.total == 125_000
