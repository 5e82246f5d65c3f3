"""Decisions of the matcher, case by case; the rules are those of docs/scoring.md."""

from __future__ import annotations

import pytest

from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.matching.policy import ITBENCH_NAMESPACES, MatchPolicy
from scenario_kit.scoring.matching.usable import find_unreachable_roots
from tests.scoring.truths import decide, group

OPTIONAL = IncidentTruth(incident="i", groups=(group("cart", "shop/Deployment", "cart(-.*)?", root=True),))
ALIASED = IncidentTruth(
    incident="i",
    groups=(
        group("cart-deploy", "shop/Deployment", "cart(-.*)?", root=True),
        group("cart-svc", "shop/Service", "cart"),
        group("front", "shop/Service", "frontend"),
    ),
    aliases=(("cart-deploy", "cart-svc"), ("front", "no-such-group")),
)
PODS = IncidentTruth(incident="i", groups=(group("cart", "shop/Pod", "cart-.*", root=True),))


def verdict(truth: IncidentTruth, *claims: str) -> tuple[str, str | None]:
    last = decide(truth, *claims)[-1]
    assert last.reason
    return last.verdict, last.rule


@pytest.mark.parametrize(
    ("truth", "claim", "expected"),
    [
        (OPTIONAL, "shop/Deployment/cart", ("RootCause", "Pattern")),
        (OPTIONAL, "shop/deployment/cart", ("RootCause", "Pattern")),
        (OPTIONAL, "Deployment/cart", ("RootCause", "Pattern")),
        (OPTIONAL, "shop/Deployment/cart-cache", ("RootCause", "Pattern")),
        (OPTIONAL, "other/Deployment/cart", ("Unmatched", None)),
        (OPTIONAL, "shop/Pod/cart-7f9-abc", ("Unmatched", None)),
        (OPTIONAL, "shop/Service/cart", ("Unmatched", None)),
        (ALIASED, "shop/Pod/cart-7f9-abc", ("RootCause", "Alias")),
        (ALIASED, "shop/Service/cart", ("RootCause", "Pattern")),
        (ALIASED, "shop/ConfigMap/cart", ("Unmatched", None)),
        (ALIASED, "shop/Service/frontend", ("OtherEntity", "Pattern")),
        (PODS, "shop/Pod/cart-7f9-abc", ("RootCause", "Pattern")),
        (PODS, "shop/Deployment/cart", ("RootCause", "Relaxed")),
        (PODS, "shop/Pod/cart", ("RootCause", "Relaxed")),
        (PODS, "shop/ConfigMap/cart", ("Unmatched", None)),
    ],
)
def test_claim_gets_its_verdict(truth: IncidentTruth, claim: str, expected: tuple[str, str | None]) -> None:
    assert verdict(truth, claim) == expected


def test_pattern_matches_the_whole_name() -> None:
    truth = IncidentTruth(incident="i", groups=(group("cart", "Service", r"cart\b", root=True),))
    assert verdict(truth, "shop/Service/valkey-cart")[0] == "Unmatched"
    assert verdict(truth, "shop/Service/cart")[0] == "RootCause"


def test_bare_name_is_unreadable() -> None:
    from scenario_kit.scoring.matching.matcher import build_truth_index, match_claims

    assert match_claims(build_truth_index(OPTIONAL), ["cart"], MatchPolicy())[0].verdict == "Unreadable"


def test_ambiguous_claim_is_no_match_and_both_are_recorded() -> None:
    truth = IncidentTruth(
        incident="i", groups=(group("a", "Deployment", "cart.*", root=True), group("b", "Deployment/cart"))
    )
    decision = decide(truth, "cart")[0]
    assert (decision.verdict, decision.candidates) == ("Ambiguous", ("a", "b"))
    joined = IncidentTruth(incident="i", groups=truth.groups, aliases=(("b", "a"),))
    assert decide(joined, "cart")[0].class_id == "a"


def test_claim_without_namespace_is_ambiguous() -> None:
    truth = IncidentTruth(
        incident="i", groups=(group("a", "one/Deployment/cart", root=True), group("b", "two/Deployment/cart"))
    )
    assert verdict(truth, "Deployment/cart")[0] == "Ambiguous"
    assert verdict(truth, "two/Deployment/cart")[0] == "OtherEntity"


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        (("Deployment/cart", "Deployment/cart"), "Duplicate"),
        (("Deployment/cart", "shop/Deployment/cart"), "Duplicate"),
        (("Deployment/cart", "Deployment/cart-cache"), "Duplicate"),
        (("Deployment/cart", "Service/cart"), "Alias"),
        (("Deployment/cart", "Pod/cart-7f9-abc"), "Alias"),
        (("Pod/cart-7f9-abc", "Deployment/cart"), "Alias"),
        (("Service/x", "Service/x"), "Duplicate"),
        (("Service/x", "Service/y"), "Unmatched"),
    ],
)
def test_second_claim(claims: tuple[str, ...], expected: str) -> None:
    assert verdict(ALIASED, *claims)[0] == expected


def test_schedule_and_its_experiment_match_each_other() -> None:
    chaos = group("c", "chaos-mesh/NetworkChaos", "cart-delay-.*", root=True)
    experiment = IncidentTruth(incident="i", groups=(chaos,))
    assert verdict(experiment, "chaos-mesh/Schedule/cart-delay") == ("RootCause", "Schedule")
    schedule = IncidentTruth(incident="i", groups=(group("s", "chaos-mesh/Schedule/cart-delay", root=True),))
    assert verdict(schedule, "chaos-mesh/NetworkChaos/cart-delay-x7k2p") == ("RootCause", "Schedule")
    assert verdict(schedule, "chaos-mesh/NetworkChaos/other-x7k2p")[0] == "Unmatched"


def test_namespace_filter_keeps_ground_truth_namespaces() -> None:
    policy = MatchPolicy(ignored_namespaces=ITBENCH_NAMESPACES)
    truth = IncidentTruth(incident="i", groups=(group("dns", "kube-system/Deployment/coredns", root=True),))
    found = decide(truth, "kube-system/Deployment/coredns", "prometheus/Pod/x", "chaos-mesh/PodChaos/x", policy=policy)
    assert [each.verdict for each in found] == ["RootCause", "Ignored", "Unmatched"]


def test_unreachable_root_is_found() -> None:
    truth = IncidentTruth(
        incident="i", groups=(group("hpa", "HorizontalPodAutoscaler", "*.*", root=True), group("x", "Pod", "*"))
    )
    assert [each.id for each in find_unreachable_roots(truth)] == ["hpa"]
    assert find_unreachable_roots(ALIASED) == ()


def test_match_decision_round_trips() -> None:
    from scenario_kit.scoring.matching.matcher import MatchDecision

    for decision in decide(ALIASED, "Deployment/cart", "Service/cart", "nothing/at/all/x", "Pod/y"):
        assert MatchDecision.from_json(decision.to_json()) == decision
