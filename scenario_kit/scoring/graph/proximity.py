"""Distance of claims from roots along the propagation (root_cause_proximity of ITBench's evaluator)."""

from __future__ import annotations

from collections.abc import Sequence

from scenario_kit.scoring.graph.chain import list_truth_paths
from scenario_kit.scoring.graph.components import label_class, label_entity
from scenario_kit.scoring.graph.propagation import list_class_edges, measure_hops
from scenario_kit.scoring.matching.matcher import MatchDecision, TruthIndex
from scenario_kit.scoring.matching.policy import MatchPolicy
from scenario_kit.scoring.metrics.precision_recall import PrecisionRecall


def compute_proximity(
    hops: Sequence[int | None], of_roots: Sequence[int | None], length: float = 1.0
) -> PrecisionRecall:
    """Compute soft precision over claims and soft recall over roots: the mean of 1/(1 + hops/length), 0 where None.

    Args:
        hops: hops of each claim to the nearest root; None off the path.
        of_roots: hops of each root to the nearest claim; None if no claim is on the path.
        length: 1 for ``no_fp``; the length of the path for ``with_fp``.
    """
    return PrecisionRecall(_average(hops, length), _average(of_roots, length))


def measure_proximity(
    index: TruthIndex, decisions: Sequence[MatchDecision], policy: MatchPolicy, *, by_length: bool = False
) -> PrecisionRecall:
    """Measure the proximity of an answer; ``by_length`` divides hops by the length of the longest contracted path.

    As published, hops are between components, and a length is a number of components. Where the publication is silent,
    hops count in both directions, and repeated claims are ignored or count as off the path, depending on the policy.
    """
    edges, roots = _list_edges(index), _list_roots(index)
    claims = _list_claims(index, decisions, policy)
    near = measure_hops(edges, roots)
    of_claims = measure_hops(edges, [claim for claim in claims if claim is not None])
    length = max(len(path) for path in list_truth_paths(index)) if by_length else 1
    return compute_proximity(
        [None if claim is None else near.get(claim) for claim in claims],
        [of_claims.get(root) for root in roots],
        length,
    )


def measure_claim_hops(index: TruthIndex, decisions: Sequence[MatchDecision]) -> list[int | None]:
    """Measure the hops from the component of each claim to the nearest root; None off the path."""
    near = measure_hops(_list_edges(index), _list_roots(index))
    return [near.get(label_entity(index, each.claim)) for each in decisions]


def _list_edges(index: TruthIndex) -> list[tuple[str, str]]:
    """List the edges of the propagation between components."""
    labels = {each.id: label_class(each) for each in index.classes}
    return [(labels[source], labels[target]) for source, target, _ in list_class_edges(index)]


def _list_roots(index: TruthIndex) -> list[str]:
    """List the components of the roots."""
    return [label_class(each) for each in index.roots]


def _list_claims(index: TruthIndex, decisions: Sequence[MatchDecision], policy: MatchPolicy) -> list[str | None]:
    """List the components of claims, with None for repeats that count as wrong."""
    dropped = {"Ignored"}
    dropped |= {"Duplicate"} if policy.duplicates == "ignore" else set()
    dropped |= {"Alias"} if policy.aliases == "merge" else set()
    return [
        None if each.verdict in ("Duplicate", "Alias") else label_entity(index, each.claim)
        for each in decisions if each.verdict not in dropped
    ]  # fmt: skip


def _average(hops: Sequence[int | None], length: float) -> float:
    return sum(0.0 if hop is None else 1 / (1 + hop / length) for hop in hops) / len(hops) if hops else 0.0
