"""Problems that make a ground truth unusable, detected before any answer is scored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.graph.propagation import list_paths
from scenario_kit.scoring.matching.matcher import build_truth_index
from scenario_kit.scoring.matching.usable import find_unreachable_roots


class TruthProblem(NamedTuple):
    """A problem of a ground truth."""

    message: str
    expected: str
    fix: str


def find_truth_problems(truth: IncidentTruth) -> Iterator[TruthProblem]:
    """Find problems that prevent scoring: no root cause, a root that no answer can name, too many paths."""
    for each in find_unreachable_roots(truth):
        yield TruthProblem(
            f"no answer can name the root '{each.id}': it has neither a name nor a valid pattern",
            "a name, or a pattern in RE2 syntax", "correct its `filter`, or add `name`",
        )  # fmt: skip
    if truth.outcome == "Incident" and not any(group.root for group in truth.groups) and not truth.resources:
        yield TruthProblem(
            "the ground truth has no root cause", "a group with `root_cause: true`",
            "mark one; an incident without a cause is a control, a scenario with outcome NoIncident",
        )  # fmt: skip
    try:
        list_paths(build_truth_index(truth))
    except ValueError as error:
        yield TruthProblem(str(error), "a propagation with fewer paths", "remove edges that follow from others")
