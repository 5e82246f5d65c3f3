"""Worked numbers of recall-gated precision (ITBench-AA) and of the evaluator of ITBench, and what always holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.matching.policy import MatchPolicy
from scenario_kit.scoring.metrics.precision_recall import (
    ClaimCounts,
    average_hits,
    count_claims,
    count_first_claims,
    measure_hit,
)
from tests.scoring.truths import DEFAULT, LENIENT, PROPERTY, STRICT, decide, group, roots

POD_AND_A = IncidentTruth(
    incident="i", groups=(group("a", "shop/Deployment/a", root=True), group("pod", "shop/Pod", "a-.*")),
    aliases=(("a", "pod"),),
)  # fmt: skip


def score(truth: IncidentTruth, *claims: str, policy: MatchPolicy = DEFAULT, k: int = 0) -> ClaimCounts:
    decisions = decide(truth, *claims, policy=policy)
    number = sum(g.root for g in truth.groups)
    return count_first_claims(decisions, number, policy, k) if k else count_claims(decisions, number, policy)


@pytest.mark.parametrize(
    ("truth", "claims", "expected"),
    [
        (roots("x"), ["x"], 1.0),
        (roots("x"), ["x", "c"], 0.5),
        (roots("a", "b"), ["b", "a"], 1.0),
        (roots("a", "b"), ["a", "b", "c"], 1 / 3),
        (roots("a", "b"), ["a"], 0.0),
        (roots("a"), [], 0.0),
    ],
)
def test_localisation_accuracy(truth: IncidentTruth, claims: list[str], expected: float) -> None:
    assert score(truth, *claims).localisation_accuracy == pytest.approx(expected)


@pytest.mark.parametrize(
    ("truth", "claims", "policy", "expected"),
    [
        (roots("x"), ["x"], STRICT, 1.0),
        (roots("x"), ["x", "chaos-controller"], STRICT, 0.5),
        (roots("x"), ["chaos-controller"], STRICT, 0.0),
        (roots("a", "b"), ["a"], STRICT, 0.0),
        (roots("a", "b"), ["a", "b", "c"], STRICT, 0.6667),
        (roots("a", "b"), ["a", "a", "b"], STRICT, 0.6667),
        (roots("a", "b"), ["a", "a", "b"], LENIENT, 1.0),
        (POD_AND_A, ["a", "shop/Pod/a-7f9-abc"], LENIENT, 1.0),
        (POD_AND_A, ["a", "shop/Pod/a-7f9-abc"], STRICT, 0.5),
        (roots("x"), [], LENIENT, 0.0),
    ],
)
def test_recall_gated_precision(truth: IncidentTruth, claims: list[str], policy: MatchPolicy, expected: float) -> None:
    assert round(score(truth, *claims, policy=policy).recall_gated_precision, 4) == expected


def test_precision_recall_f1_of_two_right_in_three_claims() -> None:
    found = score(roots("a", "b"), "a", "b", "c")
    assert (round(found.precision, 4), found.recall, round(found.f1, 4)) == (0.6667, 1.0, 0.8)


def test_precision_at_one_uses_the_first_claim() -> None:
    found = score(roots("a", "b"), "a", "c", k=1)
    assert (found.precision, found.recall, round(found.f1, 4)) == (1.0, 0.5, 0.6667)


def test_hits_at_k_and_average_match_worked_numbers() -> None:
    decisions = decide(roots("a"), "x", "y", "a")
    assert [measure_hit(decisions, k) for k in (1, 2, 3, 5)] == [0, 0, 1, 1]
    assert average_hits(decisions, 5) == pytest.approx(0.6)


def test_truth_without_a_root_is_no_incident_to_recall() -> None:
    with pytest.raises(ValueError, match="control"):
        count_claims((), 0, STRICT)
    with pytest.raises(ValueError, match="at least 1"):
        count_first_claims((), 1, STRICT, 0)


NAMES = st.sampled_from(["a", "b", "c", "d", "e", "Pod/x", "shop/Deployment/a", "nonsense/"])
CLAIMS = st.lists(NAMES, max_size=8)
POLICIES = st.sampled_from([STRICT, LENIENT, MatchPolicy()])


@PROPERTY
@given(CLAIMS, POLICIES, st.integers(1, 6))
def test_bounds(claims: list[str], policy: MatchPolicy, k: int) -> None:
    whole, first = score(roots("a", "b"), *claims, policy=policy), score(roots("a", "b"), *claims, policy=policy, k=k)
    for counts in (whole, first):
        values = (counts.precision, counts.recall, counts.f1, counts.recall_gated_precision)
        assert all(0 <= value <= 1 for value in values)
        assert counts.recall_gated_precision <= counts.precision


@PROPERTY
@given(st.permutations(["a", "b", "c"]), POLICIES)
def test_identity(names: list[str], policy: MatchPolicy) -> None:
    assert score(roots(*names), *names, policy=policy) == ClaimCounts(right=3, wrong=0, roots=3)


@PROPERTY
@given(CLAIMS, POLICIES, st.randoms())
def test_claim_order_does_not_matter(claims: list[str], policy: MatchPolicy, random: object) -> None:
    shuffled = list(claims)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert score(roots("a", "b"), *claims, policy=policy) == score(roots("a", "b"), *shuffled, policy=policy)


@PROPERTY
@given(CLAIMS, CLAIMS)
def test_repeated_claims_never_help(claims: list[str], again: list[str]) -> None:
    truth = roots("a", "b")
    repeated = [*claims, *(name for name in again if name in claims)]
    assert score(truth, *repeated, policy=LENIENT) == score(truth, *claims, policy=LENIENT)
    assert score(truth, *repeated).recall_gated_precision <= score(truth, *claims).recall_gated_precision


@PROPERTY
@given(CLAIMS, st.lists(st.sampled_from(["c", "d", "Pod/x", "nonsense/"]), max_size=5), POLICIES)
def test_wrong_extra_claims_never_raise_scores(claims: list[str], padding: list[str], policy: MatchPolicy) -> None:
    truth = roots("a", "b")
    before, after = score(truth, *claims, policy=policy), score(truth, *claims, *padding, policy=policy)
    assert after.precision <= before.precision
    assert after.recall == before.recall
    assert after.recall_gated_precision <= before.recall_gated_precision
