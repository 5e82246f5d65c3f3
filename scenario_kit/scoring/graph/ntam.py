"""NTAM, the normalised topology-aware match: near misses earn by distance, and less at nodes with many neighbours.

Described by the ITBench paper (arXiv 2502.05352); the formula is the one that SREArena published. ``compute_public`` is
that formula, with all that can be gamed in it. ``compute_corrected`` is ours: it weighs by the place in the truth, pays
nothing twice, and padding a short answer does not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Final

from scenario_kit.model.base import Value
from scenario_kit.scoring.graph.assignment import assign_largest
from scenario_kit.scoring.graph.topology import Topology


class NtamParameters(Value, frozen=True, kw_only=True, omit_defaults=False):
    """``gamma`` punishes a wrong number of predictions, ``omega`` weighs by position, ``tau`` by distance, ``beta``
    (only in the corrected form) by how common a node is. ``lengths`` are those of edges by relation, 1 where not named.
    """

    gamma: float = 1.0
    omega: float = 0.7
    tau: float = 0.8
    beta: float = 1.0
    lengths: dict[str, float] = {}


DEFAULTS: Final = NtamParameters()


def compute_specificity(topology: Topology, id: str) -> float:
    """Compute how little a node is connected, from 1 for no neighbour downwards: S(v)."""
    edges = topology.edges
    return (log((edges + 1) / (topology.count_neighbours(id) + 1)) + 1) / (log(edges + 1) + 1)


def compute_public(
    topology: Topology, truth: Sequence[str], predictions: Sequence[str], parameters: NtamParameters = DEFAULTS
) -> float:
    """Compute NTAM as published: weights by the position in the prediction, repeats paid each time, ``beta`` unused.

    Raises:
        ValueError: the truth is empty, for which the published formula divides by zero.
    """
    _refuse_empty(truth)
    total = sum(parameters.omega**position for position in range(len(truth)))
    earned = sum(_pay(topology, truth, prediction, i, parameters) for i, prediction in enumerate(predictions))
    return min(1.0, earned / total) * exp(-parameters.gamma * abs(len(predictions) - len(truth)))


def compute_corrected(
    topology: Topology, truth: Sequence[str], predictions: Sequence[str], parameters: NtamParameters = DEFAULTS
) -> float:
    """Compute the corrected form: the best one-to-one assignment, weighed by the position in the truth.

    A name that is no node and not of the truth counts apart, so that it cannot fill up a short answer.

    Raises:
        ValueError: the truth is empty.
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
    """Pay one prediction: in full by its position, in part by its distance to the nearest of the truth."""
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
        raise ValueError("NTAM needs at least one entity in the truth")
