"""SREGym problems of incidents (scenario-kit, docs/export.md).

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

from cluster_incident import NAMESPACE, ClusterIncident, IncidentApp, read_problems
from score_answer import score_answer
from sregym.conductor.oracles.base import Oracle
from sregym.conductor.problems.base import Problem

FOLDER = Path(__file__).resolve().parent
_NAMED = re.compile(
    r"(?<![\w/.-])(?:[a-z0-9][-a-z0-9]*/)?[A-Z][A-Za-z]+(?:\.[a-z0-9.-]+)?/[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?"
)


class NamedObjectsOracle(Oracle):
    """Accepts a diagnosis that names every root cause, as ``namespace/Kind/name``, and no other object.

    The diagnosis is prose or an answer in ITBench's format; no model judges it. A model judge can use ``root_cause``.
    """

    def evaluate(self, solution: Any = None, trace: Any = None, duration: Any = None) -> dict[str, Any]:
        """Score the objects named by a diagnosis."""
        del trace, duration
        text = solution if isinstance(solution, str) else json.dumps(solution)
        result = score_answer(self.problem.rules, _read_answer(text))
        reward = result["rewards"]["reward"]
        if reward == 1.0:
            return {"success": True, "accuracy": 100.0}
        return _fail("root_cause_not_named", decisions=result["decisions"], reward=reward)


class ResolvedOracle(Oracle):
    """Accepts a mitigation if the alerts clear and stay clear while the whole app serves its load."""

    def evaluate(self, solution: Any = None, trace: Any = None, duration: Any = None) -> dict[str, Any]:
        """Wait for the operator's Resolved condition."""
        del solution, trace, duration
        if self.problem.incident.is_resolved():
            return {"success": True}
        return _fail("incident_not_resolved")


class ClusterProblem(Problem):
    """One incident. The Scenario deploys the app, so SREGym deploys none."""

    def __init__(self, problem: dict[str, Any]) -> None:
        self.incident = ClusterIncident(FOLDER / problem["scenario"])
        super().__init__(IncidentApp(problem, self.incident), namespace="")
        # Before an injection SREGym redirects Services of Jaeger in the app's namespace, and fails without any.
        self.app.namespace = NAMESPACE
        self.rules = json.loads((FOLDER / problem["rules"]).read_text(encoding="utf-8"))
        self.root_cause = problem["rootCause"]
        self.diagnosis_oracle = NamedObjectsOracle(self)
        self.mitigation_oracle = ResolvedOracle(self)

    def inject_fault(self) -> None:
        """Apply the Scenario and wait until the incident is active."""
        self.namespace = self.app.namespace = self.incident.begin()
        self.fault_injected = True

    def recover_fault(self) -> None:
        """Delete the Scenario, which undoes everything."""
        self.incident.end()
        self.fault_injected = False


def _fail(reason: str, **detail: Any) -> dict[str, Any]:
    """Build the verdict on a solver's failure; SREGym reads ``success`` alone."""
    return {"success": False, "reason": reason, "failure_class": "agent_error", "detail": detail}


def _read_answer(text: str) -> str:
    """Return a JSON answer unchanged; build one from prose with every object it names, once."""
    try:
        if isinstance(json.loads(text), dict):
            return text
    except ValueError:
        pass
    named = {tuple(name.split("/")[-2:]): name for name in reversed(_NAMED.findall(text))}
    return json.dumps({"contributing_factors": [{"name": name} for name in reversed(named.values())]})


#: Problem factories by identifier.
PROBLEMS: dict[str, Callable[[], ClusterProblem]] = {
    each["id"]: partial(ClusterProblem, each) for each in read_problems(FOLDER)
}
