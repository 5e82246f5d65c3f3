"""Chain F1, edge coverage, proximity, component identification: numbers of ITBench's evaluator, and properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.scoring.entities.answer import AnswerEdge, SolverAnswer
from scenario_kit.scoring.entities.truth import CausalEdge, IncidentTruth
from scenario_kit.scoring.graph.chain import (
    list_model_path,
    list_truth_paths,
    match_chain,
    measure_common_subsequence,
    measure_edge_coverage,
)
from scenario_kit.scoring.graph.component_identification import find_first_failing_component, identify_component
from scenario_kit.scoring.graph.propagation import list_paths, order_nodes, order_truth
from scenario_kit.scoring.graph.proximity import compute_proximity, measure_proximity
from scenario_kit.scoring.matching.matcher import build_truth_index
from tests.scoring.truths import LENIENT, PROPERTY, STRICT, decide, group

TRUTH = IncidentTruth(
    incident="i",
    groups=(
        group("chaos", "chaos-mesh/NetworkChaos", "delay-.*"),
        group("cart", "shop/Deployment", "cart(-.*)?", root=True),
        group("cart-pod", "shop/Pod", "cart-.*"),
        group("cart-svc", "shop/Service/cart"),
        group("checkout", "shop/Service/checkout"),
        group("frontend", "shop/Deployment/frontend"),
        group("ad", "shop/Deployment/ad"),
    ),
    edges=(
        CausalEdge(source="cart", target="cart-pod", effect="nothing visible"),
        CausalEdge(source="cart-pod", target="cart-svc"),
        CausalEdge(source="cart-svc", target="checkout", effect="Error rate of calls rises"),
        CausalEdge(source="checkout", target="frontend", effect="latency"),
        CausalEdge(source="cart-svc", target="frontend", effect="errors"),
        CausalEdge(source="gone", target="frontend"),
    ),
)
INDEX = build_truth_index(TRUTH)


def answer(*edges: str, claims: tuple[str, ...] = ()) -> SolverAnswer:
    pairs = (edge.split(">") for edge in edges)
    return SolverAnswer(claims=claims, edges=tuple(AnswerEdge(source=a.strip(), target=b.strip()) for a, b in pairs))


def test_path_without_middle_has_partial_recall() -> None:
    found = match_chain(["A", "C"], [["A", "B", "C"]])
    assert (found.precision, round(found.recall, 4), round(found.f1, 4)) == (1.0, 0.6667, 0.8)


def test_paths_of_the_truth_are_contracted() -> None:
    assert list_truth_paths(INDEX) == [["cart", "checkout", "frontend"], ["cart", "frontend"]]
    assert order_truth(INDEX) == ["cart", "cart-pod", "cart-svc", "checkout", "frontend"]


def test_best_of_several_paths_counts() -> None:
    assert match_chain(["cart", "frontend"], list_truth_paths(INDEX)).f1 == 1.0


def test_answer_path_is_contracted_and_ordered() -> None:
    found = answer(
        "shop/Service/checkout > shop/Deployment/frontend",
        "shop/Pod/cart-7f9-abc > shop/Service/cart",
        "shop/Service/cart > shop/Service/checkout",
        claims=("shop/Deployment/cart",),
    )
    assert list_model_path(INDEX, found) == ["cart", "checkout", "frontend"]
    assert list_model_path(INDEX, answer("chaos-mesh/NetworkChaos/delay-x > shop/Service/cart")) == [
        "networkchaos/delay", "cart"
    ]  # fmt: skip


def test_app_of_another_namespace_is_another_component() -> None:
    assert list_model_path(INDEX, answer("other/Deployment/cart > shop/Deployment/frontend")) == [
        "other/cart", "frontend"
    ]  # fmt: skip


def test_edge_coverage() -> None:
    assert measure_edge_coverage(INDEX, ["cart", "checkout", "frontend"]) == 1.0
    assert measure_edge_coverage(INDEX, ["cart", "frontend"]) == pytest.approx(1 / 3)
    assert measure_edge_coverage(INDEX, ["frontend", "checkout", "cart"]) == 0.0
    alone = IncidentTruth(incident="i", groups=(group("a", "Deployment/a", root=True),))
    assert measure_edge_coverage(build_truth_index(alone), ["a"]) is None


def test_circle_ends() -> None:
    assert order_nodes([("a", "b"), ("b", "a"), ("b", "c")]) == ["a", "b", "c"]
    truth = IncidentTruth(
        incident="i",
        groups=(group("a", "Deployment/a", root=True), group("b", "Deployment/b")),
        edges=(CausalEdge(source="a", target="b"), CausalEdge(source="b", target="a")),
    )
    assert list_paths(build_truth_index(truth)) == [("a", "b")]


def test_too_many_paths_are_refused() -> None:
    names = [f"{layer}-{side}" for layer in range(12) for side in "xy"]
    edges = tuple(
        CausalEdge(source=f"{layer}-{a}", target=f"{layer + 1}-{b}") for layer in range(11) for a in "xy" for b in "xy"
    )
    groups = tuple(group(name, f"Deployment/{name}", root=name == "0-x") for name in names)
    with pytest.raises(ValueError, match="paths"):
        list_paths(build_truth_index(IncidentTruth(incident="i", groups=groups, edges=edges)))


def test_proximity_of_claims_at_no_hop_and_at_two() -> None:
    near = compute_proximity([0, 2], [0])
    assert (round(near.precision, 4), near.recall, round(near.f1, 4)) == (0.6667, 1.0, 0.8)
    by_length = compute_proximity([0, 2], [0], 4)
    assert (round(by_length.precision, 4), by_length.recall, round(by_length.f1, 4)) == (0.8333, 1.0, 0.9091)
    assert compute_proximity([None], [None]).f1 == compute_proximity([], [None]).f1 == 0.0


def test_proximity_along_the_propagation() -> None:
    found = measure_proximity(INDEX, decide(TRUTH, "cart", "shop/Service/checkout"), STRICT)
    assert (found.precision, found.recall) == (0.75, 1.0)
    same = measure_proximity(INDEX, decide(TRUTH, "shop/Service/cart"), STRICT)
    assert (same.precision, same.recall) == (1.0, 1.0)  # the same component, if not the root
    wrong = measure_proximity(INDEX, decide(TRUTH, "ad", "shop/Service/none"), STRICT)
    assert (wrong.precision, wrong.recall) == (0.0, 0.0)
    half = measure_proximity(INDEX, decide(TRUTH, "cart", "shop/Service/checkout"), STRICT, by_length=True)
    assert half.precision == pytest.approx((1 + 1 / (1 + 1 / 3)) / 2)  # three components are on the longest path


def test_first_failing_component_is_found() -> None:
    assert find_first_failing_component(INDEX) == "checkout"
    assert identify_component(INDEX, ["cart", "checkout"]) == 1.0
    assert identify_component(INDEX, ["cart"]) == 0.0
    silent = IncidentTruth(incident="i", groups=TRUTH.groups)
    assert identify_component(build_truth_index(silent), ["cart"]) is None


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        (["checkout service Error Rate is Above Threshold", ""], "checkout"),
        (["flag enabled", "errors observed downstream"], "frontend"),
        (["flag enabled", "the ad service has High CPU"], "ad"),
        (["flag enabled", "config updated"], "checkout"),
    ],
)
def test_first_component_is_read_from_effects(effects: list[str], expected: str) -> None:
    edges = (
        CausalEdge(source="cart", target="checkout", effect=effects[0]),
        CausalEdge(source="checkout", target="frontend", effect=effects[1]),
    )
    truth = IncidentTruth(incident="i", groups=TRUTH.groups, edges=edges)
    assert find_first_failing_component(build_truth_index(truth)) == expected


LABELS = st.lists(st.sampled_from("ABCDE"), max_size=7)


@PROPERTY
@given(LABELS, LABELS)
def test_chain_bounds(model: list[str], truth: list[str]) -> None:
    found = match_chain(model, [truth])
    assert all(0 <= value <= 1 for value in (found.precision, found.recall, found.f1))
    assert measure_common_subsequence(model, truth) == measure_common_subsequence(truth, model)


@PROPERTY
@given(st.lists(st.sampled_from("ABCDE"), min_size=1, unique=True), st.lists(st.sampled_from("xyz"), max_size=4))
def test_chain_identity_and_padding(path: list[str], padding: list[str]) -> None:
    assert match_chain(path, [path]).f1 == 1.0
    assert match_chain([*path[:-1], *padding], [path]).f1 <= match_chain(path[:-1], [path]).f1


@PROPERTY
@given(st.lists(st.sampled_from(["cart", "ad", "shop/Service/cart", "none"]), max_size=5))
def test_repeated_claims_do_not_raise_proximity(claims: list[str]) -> None:
    for policy in (STRICT, LENIENT):
        once = measure_proximity(INDEX, decide(TRUTH, *dict.fromkeys(claims)), policy)
        again = measure_proximity(INDEX, decide(TRUTH, *dict.fromkeys(claims), *claims), policy)
        assert again.precision <= once.precision
        assert again.recall == once.recall
