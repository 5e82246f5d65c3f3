"""AIOpsLab problems on four levels, and the control twin of detection (https://github.com/microsoft/AIOpsLab)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from scenario_kit.exporters.files import ExportedFile, ExportedFolder, export_document
from scenario_kit.exporters.rules import PROGRAMS
from scenario_kit.exporters.scenario_incident import (
    ScenarioIncident,
    build_control_object,
    build_scenario_object,
    note_own_faults,
)
from scenario_kit.load.package_data import read_package_data
from scenario_kit.model import Fault
from scenario_kit.model.authored.contamination_canary import CANARY
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.model.base import Value, convert

FOLDER_NAME: Final = "aiopslab"


class TaxonomyEntry(Value, frozen=True, kw_only=True):
    """The system levels and fault types accepted as right answers."""

    levels: tuple[str, ...]
    types: tuple[str, ...]


def classify_fault(name: str, family: str) -> TaxonomyEntry:
    """Classify a fault type by its name, the longest matching prefix, or its family."""
    data: Mapping[str, Any] = read_package_data(__file__)
    prefixes = sorted((each for each in data["faults"] if each.endswith("-")), key=len, reverse=True)
    found = data["faults"].get(name) or next((data["faults"][e] for e in prefixes if name.startswith(e)), None)
    return convert(found or data["families"][family], TaxonomyEntry)


def build_aiopslab_problems(incidents: Sequence[ScenarioIncident]) -> list[ExportedFolder]:
    """Build one folder: the problems as data and scenarios, and the program that turns them into classes."""
    files = {
        "problems.py": ExportedFile(copy_of=PROGRAMS / "aiopslab_problems.py"),
        "cluster_incident.py": ExportedFile(copy_of=PROGRAMS / "cluster_incident.py"),
    }
    problems, notes = [], []
    for each in incidents:
        problem = _describe(each)
        problems.append(problem)
        notes += note_own_faults(each)
        if each.truth.outcome == "Incident" and "localization" not in problem["levels"]:
            notes.append(f"{each.name}: no localization level, because its faults target no service of the app")
        files[problem["scenario"] or problem["control"]] = export_document(build_scenario_object(each.scenario))
        if problem["scenario"]:
            files[problem["control"]] = export_document(build_control_object(each.scenario))
    files["problems.json"] = export_document({"canary": CANARY, "problems": problems})
    return [ExportedFolder(FOLDER_NAME, files, notes=tuple(notes))]


def _describe(incident: ScenarioIncident) -> dict[str, Any]:
    """Describe a problem. A scenario that is itself a control has only the control's detection level."""
    spec, runbook = incident.scenario.spec, incident.runbook
    broken = incident.truth.outcome == "Incident"
    faults = [each for each in runbook.faults if each.role in LABELLED]
    entries = [classify_fault(each.type, incident.families[each.type]) for each in faults] if broken else []
    services = _list_services(incident, faults) if broken else []
    levels = ["detection", *(["localization"] if services else []), "analysis", "mitigation"] if broken else []
    return {
        "id": incident.name.replace("-", "_"),
        "app": spec.app.name,
        "brief": spec.brief.strip(),
        "levels": levels,
        "scenario": f"scenarios/{incident.name}.json" if broken else "",
        "control": f"scenarios/{incident.name}{'-control' if broken else ''}.json",
        "services": services,
        "systemLevels": list(dict.fromkeys(level for entry in entries for level in entry.levels)),
        "faultTypes": list(dict.fromkeys(kind for entry in entries for kind in entry.types)),
    }


def _list_services(incident: ScenarioIncident, faults: Sequence[Fault]) -> list[str]:
    """List the names of the app's components that faults target."""
    names = {fault.target.name for fault in faults}
    components = incident.runbook.app.components
    return [c.name for c in components if c.name in names or c.workload.name in names]
