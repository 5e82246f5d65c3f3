"""Scores of cost incidents: proximity to the optimum (ITBench paper), and resources that explain an anomaly."""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.scoring.entities.truth import FinopsResource


def compute_cost_proximity(observed: float, optimal: float) -> float:
    """Compute 1 - |observed - optimal| / optimal without clamping; values far off are negative.

    Raises:
        ValueError: the optimum is not positive.
    """
    if optimal <= 0:
        raise ValueError("the optimum must be above 0")
    return 1 - abs(observed - optimal) / optimal


def match_resources(truth: Iterable[FinopsResource], named: Iterable[FinopsResource]) -> float:
    """Return 1 if every resource of the ground truth is named, by name and type, else 0 (root_cause_resource).

    As published, additional resources are not penalised. Case is ignored.
    """
    expected = {_normalise(each) for each in truth}
    return float(expected <= {_normalise(each) for each in named})


def _normalise(resource: FinopsResource) -> tuple[str, str]:
    return resource.name.strip().lower(), resource.type.strip().lower()
