"""Why a truth cannot be scored. Asked before any answer is looked at, so that nothing is scored in part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.graph.propagation import list_paths
from scenario_kit.scoring.matching.matcher import build_truth_index
from scenario_kit.scoring.matching.usable import find_unreachable_roots


class TruthProblem(NamedTuple):
    """What is wrong with a truth, what is expected, and what to do."""

    message: str
    expected: str
    fix: str


def find_truth_problems(truth: IncidentTruth) -> Iterator[TruthProblem]:
    """Find what hinders scoring: nothing to find, a root that no answer can name, a propagation without bounds."""
    for each in find_unreachable_roots(truth):
        yield TruthProblem(
            f"no answer can name the root '{each.id}': it has no name and no pattern that compiles",
            "a name, or a pattern in the syntax of RE2", "correct its `filter`, or write `name`",
        )  # fmt: skip
    if truth.outcome == "Incident" and not any(group.root for group in truth.groups) and not truth.resources:
        yield TruthProblem(
            "the truth has no root cause", "a group with `root_cause: true`",
            "mark one; an incident without a cause is a control: a scenario with outcome NoIncident",
        )  # fmt: skip
    try:
        list_paths(build_truth_index(truth))
    except ValueError as error:
        yield TruthProblem(
            str(error), "a propagation that a person can follow", "leave out edges that follow from others"
        )
