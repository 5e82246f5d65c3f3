"""AIOpsLab problems of incidents, on its four levels (scenario-kit, docs/export.md).

Usage: from problems import PROBLEMS
       orchestrator.probs.PROBLEM_REGISTRY.update(PROBLEMS)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask
from cluster_incident import ClusterIncident, IncidentApp, read_problems

FOLDER = Path(__file__).resolve().parent


class LevelProblem:
    """Base of all levels: deploys the incident, or its control twin in which nothing is broken."""

    level: Any

    def __init__(self, problem: dict[str, Any], control: bool = False) -> None:
        self.problem = problem
        self.control = control
        self.incident = ClusterIncident(FOLDER / problem["control" if control else "scenario"])
        self.level.__init__(self, IncidentApp(problem, self.incident))
        self.namespace = ""

    def start_workload(self) -> None:
        """Do nothing: the Scenario deploys the app with its load."""

    def inject_fault(self) -> None:
        """Apply the Scenario and wait until the incident is active."""
        self.namespace = self.app.namespace = self.incident.begin()  # type: ignore[attr-defined]
        self.app_summary = self.app.get_app_summary()  # type: ignore[attr-defined]

    def recover_fault(self) -> None:
        """Delete the Scenario, which undoes everything."""
        self.incident.end()


class IncidentDetection(LevelProblem, DetectionTask):
    """Is something wrong? For the control twin the answer is "No"."""

    level = DetectionTask

    def eval(self, soln: Any, trace: Any, duration: float) -> Any:
        """Compare the answer with Yes or No; anything else is an invalid format."""
        given = soln.strip().lower() if isinstance(soln, str) else ""
        expected = "no" if self.control else "yes"
        verdict = "Invalid Format" if given not in ("yes", "no") else "Correct" if given == expected else "Incorrect"
        self.add_result("Detection Accuracy", verdict)
        return super().eval(soln, trace, duration)


class IncidentLocalization(LevelProblem, LocalizationTask):
    """Which services are faulty?"""

    level = LocalizationTask

    def eval(self, soln: Any, trace: Any, duration: float) -> Any:
        """Score 100 for exactly the faulty services, 100/n for a superset of n, else 0."""
        named = {soln} if isinstance(soln, str) else set(soln) if _is_list_of_text(soln) else set()
        faulty = set(self.problem["services"])
        subset = faulty <= named
        self.add_result("Localization Accuracy", 100.0 if named == faulty else 100.0 / len(named) if subset else 0.0)
        super().eval(soln, trace, duration)
        self.results["success"] = named == faulty
        self.results["is_subset"] = subset
        return self.results


class IncidentAnalysis(LevelProblem, AnalysisTask):
    """At which system level, and of what fault type? Where the taxonomy is ambiguous, several answers are accepted."""

    level = AnalysisTask

    def eval(self, soln: Any, trace: Any, duration: float) -> Any:
        """Compare level and type, ignoring case."""
        answers = soln if isinstance(soln, dict) else {}
        for key, accepted in (("system_level", "systemLevels"), ("fault_type", "faultTypes")):
            given = str(answers.get(key, "")).strip().lower()
            self.results[f"{key}_correct"] = given in {each.lower() for each in self.problem[accepted]}
        self.results["success"] = self.results["system_level_correct"] and self.results["fault_type_correct"]
        super().eval(soln, trace, duration)
        return self.results


class IncidentMitigation(LevelProblem, MitigationTask):
    """Resolve the incident: the alerts clear and stay clear while the whole app serves its load."""

    level = MitigationTask

    def eval(self, soln: Any, trace: Any, duration: float) -> Any:
        """Wait for the operator's Resolved condition."""
        super().eval(soln, trace, duration)
        self.results["success"] = self.incident.is_resolved()
        return self.results


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list | tuple | set) and all(isinstance(each, str) for each in value)


_LEVELS: dict[str, type[LevelProblem]] = {
    "detection": IncidentDetection,
    "localization": IncidentLocalization,
    "analysis": IncidentAnalysis,
    "mitigation": IncidentMitigation,
}


def _list_problems() -> dict[str, Callable[[], LevelProblem]]:
    found: dict[str, Callable[[], LevelProblem]] = {}
    for problem in read_problems(FOLDER):
        for level in problem["levels"]:
            found[f"{problem['id']}-{level}-1"] = partial(_LEVELS[level], problem)
        if problem["control"]:
            found[f"{problem['id']}_control-detection-1"] = partial(IncidentDetection, problem, control=True)
    return found


#: Problem factories by identifier.
PROBLEMS = _list_problems()
