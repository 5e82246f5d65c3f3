"""NTAM, the normalised topology-aware match: near misses earn by distance, and less at highly connected nodes.

Described in the ITBench paper (arXiv 2502.05352), with the formula published by SREArena. ``compute_public`` is that
formula, including its loopholes. ``compute_corrected`` is ours: it weighs by position in the ground truth, ignores
repeats, and does not reward padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Final

from scenario_kit.model.base import Value
from scenario_kit.scoring.graph.assignment import assign_largest
from scenario_kit.scoring.graph.topology import Topology


class NtamParameters(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Parameters of NTAM.

    ``gamma`` penalises a wrong number of predictions, ``omega`` weighs by position, ``tau`` by distance, ``beta`` (only
    in the corrected form) by connectivity. ``lengths`` are edge lengths by relation, 1 by default.
    """

    gamma: float = 1.0
    omega: float = 0.7
    tau: float = 0.8
    beta: float = 1.0
    lengths: dict[str, float] = {}


DEFAULTS: Final = NtamParameters()


def compute_specificity(topology: Topology, id: str) -> float:
    """Compute the specificity S(v) of a node: 1 without neighbours, less with more."""
    edges = topology.edges
    return (log((edges + 1) / (topology.count_neighbours(id) + 1)) + 1) / (log(edges + 1) + 1)


def compute_public(
    topology: Topology, truth: Sequence[str], predictions: Sequence[str], parameters: NtamParameters = DEFAULTS
) -> float:
    """Compute NTAM as published: weights by position in the prediction, repeats count each time, ``beta`` unused.

    Raises:
        ValueError: the ground truth is empty; the published formula divides by zero.
    """
    _refuse_empty(truth)
    total = sum(parameters.omega**position for position in range(len(truth)))
    earned = sum(_pay(topology, truth, prediction, i, parameters) for i, prediction in enumerate(predictions))
    return min(1.0, earned / total) * exp(-parameters.gamma * abs(len(predictions) - len(truth)))


def compute_corrected(
    topology: Topology, truth: Sequence[str], predictions: Sequence[str], parameters: NtamParameters = DEFAULTS
) -> float:
    """Compute the corrected form: the best one-to-one assignment, weighed by position in the ground truth.

    Unknown names count as excess, so that they cannot pad a short answer.

    Raises:
        ValueError: the ground truth is empty.
    """
    _refuse_empty(truth)
    names = list(dict.fromkeys(predictions))
    known = [name for name in names if name in topology.nodes or name in truth]
    weights = [parameters.omega**position for position in range(len(truth))]
    if not known:
        return 0.0
    values = [
        [weight * _compare(topology, target, name, parameters) for name in known]
        for target, weight in zip(truth, weights, strict=True)
    ]
    excess = abs(len(known) - len(truth)) + len(names) - len(known)
    return min(1.0, assign_largest(values) / sum(weights)) * exp(-parameters.gamma * excess)


def _pay(topology: Topology, truth: Sequence[str], prediction: str, position: int, parameters: NtamParameters) -> float:
    """Score one prediction: in full by position, or in part by distance to the nearest true entity."""
    if prediction in truth:
        return parameters.omega**position
    if prediction not in topology.nodes:
        return 0.0
    ways = [topology.measure_distances(target) for target in truth if target in topology.nodes]
    hops = [way[prediction] for way in ways if prediction in way]
    return compute_specificity(topology, prediction) * parameters.tau ** min(hops) if hops else 0.0


def _compare(topology: Topology, target: str, name: str, parameters: NtamParameters) -> float:
    if target == name:
        return 1.0
    if target not in topology.nodes or name not in topology.nodes:
        return 0.0
    distance = topology.measure_distances(target, parameters.lengths).get(name)
    if distance is None:
        return 0.0
    return float(compute_specificity(topology, name) ** parameters.beta * parameters.tau**distance)


def _refuse_empty(truth: Sequence[str]) -> None:
    if not truth:
        raise ValueError("NTAM requires at least one entity in the ground truth")
