"""Chain F1 and edge coverage: how much of the propagation an answer describes, in the right order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scenario_kit.scoring.entities.answer import SolverAnswer
from scenario_kit.scoring.graph.components import contract, label_class, label_entity
from scenario_kit.scoring.graph.propagation import list_class_edges, list_paths, order_nodes
from scenario_kit.scoring.matching.matcher import TruthIndex
from scenario_kit.scoring.metrics.precision_recall import PrecisionRecall


def order_answer(answer: SolverAnswer) -> list[str]:
    """Order the entities of an answer from causes to symptoms by its propagation; without one, as listed.

    The published evaluator derives the path with a model; here it is the topological order of the answer's edges,
    claims first, so that the order of edges is irrelevant and every named entity counts.
    """
    if not answer.edges:
        return list(dict.fromkeys([*answer.claims, *answer.chain]))
    return order_nodes([(edge.source, edge.target) for edge in answer.edges], answer.claims)


def list_model_path(index: TruthIndex, answer: SolverAnswer) -> list[str]:
    """List the components of an answer's path without consecutive repeats."""
    return contract([label_entity(index, text) for text in order_answer(answer)])


def list_truth_paths(index: TruthIndex) -> list[list[str]]:
    """List the paths of the ground truth as components, without consecutive repeats."""
    labels = {each.id: label_class(each) for each in index.classes}
    return [contract([labels[id] for id in path]) for path in list_paths(index)]


def match_chain(model: Sequence[str], paths: Iterable[Sequence[str]]) -> PrecisionRecall:
    """Match a path with the ground truth's paths and return the best match by F1."""
    best = PrecisionRecall(0.0, 0.0)
    for path in paths:
        length = measure_common_subsequence(model, path)
        if model and path:
            best = max(best, PrecisionRecall(length / len(model), length / len(path)), key=lambda each: each.f1)
    return best


def measure_common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for each in one:
        above = row
        row = [0]
        for i, against in enumerate(other):
            row.append(above[i] + 1 if each == against else max(row[i], above[i + 1]))
    return row[-1]


def measure_edge_coverage(index: TruthIndex, model: Sequence[str]) -> float | None:
    """Measure the share of ground truth edges whose ends the answer names in order; None without edges.

    Edges within one component are ignored.
    """
    labels = {each.id: label_class(each) for each in index.classes}
    edges = {(labels[source], labels[target]) for source, target, _ in list_class_edges(index)}
    edges = {(source, target) for source, target in edges if source != target}
    if not edges:
        return None
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for position, label in enumerate(model):
        first.setdefault(label, position)
        last[label] = position
    covered = sum(source in first and target in last and first[source] < last[target] for source, target in edges)
    return covered / len(edges)
