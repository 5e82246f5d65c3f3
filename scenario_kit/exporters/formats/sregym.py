"""SREGym problems with their ``[fault_spec]`` and deterministic oracles (https://github.com/SREGym/SREGym).

The base classes are those of commit ba07faf1 (2026-08-06).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scenario_kit.exporters.files import ExportedFile, ExportedFolder, export_document
from scenario_kit.exporters.reference_answers import list_named_roots
from scenario_kit.exporters.rules import PROGRAMS, VERIFIER, VERIFIER_FILE, build_rules
from scenario_kit.exporters.scenario_incident import (
    ScenarioIncident,
    build_scenario_object,
    clear_namespace,
    note_own_faults,
)
from scenario_kit.model.authored.contamination_canary import CANARY
from scenario_kit.scoring.entities.truth import IncidentTruth

FOLDER_NAME: Final = "sregym"


def build_fault_spec(truth: IncidentTruth, title: str, namespace: str) -> str:
    """Build the root cause text for SREGym's judge.

    ``[fault_spec] component=<kind/name,…>; namespace=<ns> || <text>``, with one component per root cause.
    """
    named = list_named_roots(truth)
    component = ",".join(f"{g.kind.partition('.')[0].lower()}/{g.names[0]}" for g in named)
    return f"[fault_spec] component={component}; namespace={namespace} || {title.strip()}"


def build_sregym_problems(incidents: Sequence[ScenarioIncident]) -> list[ExportedFolder]:
    """Build one folder: the problems as data, scenarios and rules, and the program that turns them into classes."""
    files = {
        "problems.py": ExportedFile(copy_of=PROGRAMS / "sregym_problems.py"),
        "cluster_incident.py": ExportedFile(copy_of=PROGRAMS / "cluster_incident.py"),
        VERIFIER_FILE: ExportedFile(copy_of=VERIFIER),
    }
    problems, notes = [], []
    for each in incidents:
        if each.truth.outcome != "Incident":
            notes.append(f"{each.name}: left out: SREGym problems need a root cause, and nothing is broken")
            continue
        problem = _describe(each)
        problems.append(problem)
        notes += note_own_faults(each)
        files[problem["scenario"]] = export_document(build_scenario_object(each.scenario))
        files[problem["rules"]] = ExportedFile(build_rules(clear_namespace(each.truth)).render())
    files["problems.json"] = export_document({"canary": CANARY, "problems": problems})
    return [ExportedFolder(FOLDER_NAME, files, notes=tuple(notes))]


def _describe(incident: ScenarioIncident) -> dict[str, Any]:
    spec = incident.scenario.spec
    return {
        "id": incident.name.replace("-", "_"),
        "app": spec.app.name,
        "brief": spec.brief.strip(),
        "scenario": f"scenarios/{incident.name}.json",
        "rules": f"rules/{incident.name}.json",
        "rootCause": build_fault_spec(incident.truth, spec.title, incident.runbook.app.namespace),
    }
