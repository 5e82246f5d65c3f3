"""Incidents as problems of SREGym (scenario-kit, docs/export.md).

Usage: from problems import PROBLEMS
       conductor.problems.PROBLEM_REGISTRY.update(PROBLEMS)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cluster_incident import ClusterIncident, IncidentApp, read_problems
from score_answer import score_answer
from sregym.conductor.oracles.base import Oracle
from sregym.conductor.problems.base import Problem

FOLDER = Path(__file__).resolve().parent
_NAMED = re.compile(
    r"(?<![\w/.-])(?:[a-z0-9][-a-z0-9]*/)?[A-Z][A-Za-z]+(?:\.[a-z0-9.-]+)?/[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?"
)


class NamedObjectsOracle(Oracle):
    """A diagnosis is right if it names the root causes, as ``namespace/Kind/name``, and no other object.

    It is prose, or an answer as ITBench has it; no model judges it. For a judge by a model there is ``root_cause``.
    """

    FAILURE_CLASSES = {"root_cause_not_named": "agent_error"}

    def evaluate(self, solution: Any = None, trace: Any = None, duration: Any = None) -> dict[str, Any]:
        """Score the objects that a diagnosis names."""
        del trace, duration
        text = solution if isinstance(solution, str) else json.dumps(solution)
        result = score_answer(self.problem.rules, _read_answer(text))
        reward = result["rewards"]["reward"]
        if reward == 1.0:
            return {"success": True, "accuracy": 100.0}
        verdict: dict[str, Any] = self.fail("root_cause_not_named", decisions=result["decisions"], reward=reward)
        return verdict


class ResolvedOracle(Oracle):
    """A mitigation is right if the alerts clear and stay clear, the app is all there and serves its load."""

    FAILURE_CLASSES = {"incident_not_resolved": "agent_error"}

    def evaluate(self, solution: Any = None, trace: Any = None, duration: Any = None) -> dict[str, Any]:
        """Ask the operator."""
        del solution, trace, duration
        if self.problem.incident.is_resolved():
            return {"success": True}
        verdict: dict[str, Any] = self.fail("incident_not_resolved")
        return verdict


class ClusterProblem(Problem):
    """One incident. The app comes with it, so that SREGym deploys none."""

    def __init__(self, problem: dict[str, Any]) -> None:
        self.incident = ClusterIncident(FOLDER / problem["scenario"])
        super().__init__(IncidentApp(problem, self.incident), namespace="")
        self.rules = json.loads((FOLDER / problem["rules"]).read_text(encoding="utf-8"))
        self.root_cause = problem["rootCause"]
        self.diagnosis_oracle = NamedObjectsOracle(self)
        self.mitigation_oracle = ResolvedOracle(self)

    def inject_fault(self) -> None:
        """Make the incident happen."""
        self.namespace = self.app.namespace = self.incident.begin()
        self.fault_injected = True

    def recover_fault(self) -> None:
        """Undo all of it."""
        self.incident.end()
        self.fault_injected = False


def _read_answer(text: str) -> str:
    """Return an answer: what is one already, or the objects that prose names, each of them once."""
    try:
        if isinstance(json.loads(text), dict):
            return text
    except ValueError:
        pass
    named = {tuple(name.split("/")[-2:]): name for name in reversed(_NAMED.findall(text))}
    return json.dumps({"contributing_factors": [{"name": name} for name in reversed(named.values())]})


#: What makes a problem, by its identifier.
PROBLEMS: dict[str, Callable[[], ClusterProblem]] = {
    each["id"]: partial(ClusterProblem, each) for each in read_problems(FOLDER)
}
