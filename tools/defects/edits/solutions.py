"""Solutions of a scenario, spelled out so that defects can edit them."""

from __future__ import annotations

from typing import Any

from tools.defects.kind import Defect, needs
from tools.defects.subject import Document, Subject


def require_one_cause(subject: Subject) -> str:
    """Return the name of the only fault of an incident whose alerts name objects."""
    needs(subject.incident, "there is no incident")
    needs(len(subject.spec.faults) == 1, "it has several faults")
    needs(subject.alerting, "no alert names its object")
    fault = subject.case.faults[subject.spec.faults[0].name]
    needs(fault.mitigation != "None", "no operator can end it")
    needs(fault.visibility != "Hidden", "its fault is hidden, which no fault of a scenario's own can be")
    return fault.name


def write_out_solution(subject: Subject, spec: Document) -> None:
    """Write the fault's inherited solution into ``spec``."""
    if spec.get("solutions"):
        return
    fault = subject.case.faults[subject.spec.faults[0].name]
    changes: list[Any] = [{"removeFault": {"fault": fault.name}}]
    spec["solutions"] = [{"name": "take-back", "fixes": [fault.name], "changes": changes}]


def extend_solution(subject: Subject, change: dict[str, Any], reported: str) -> Defect:
    """Return the scenario with one more change in its first solution, which may be that of the fault type."""
    document, spec = subject.copy()
    require_one_cause(subject)
    write_out_solution(subject, spec)
    spec["solutions"][0]["changes"].append(change)
    return Defect(f"the solution also {reported}", document)
