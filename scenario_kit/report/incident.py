"""Summary rows of an incident, the first part of every report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.results.incident import BrokenTarget, Incident, NamedProcedure, PromisedAlert

#: Instruction for reviewers; the lint rules on briefs only find mechanical leaks.
READING: Final = "A person must read the brief: no rule can tell whether its wording gives the answer away."


def build_incident_rows(incident: Incident) -> Iterator[tuple[str, str]]:
    """Yield (name, text) rows: title, brief, and ground truth."""
    yield "title", incident.title
    yield "brief, the only text that a solver gets", incident.brief
    options = f", options {json.dumps(incident.options)}" if incident.options else ""
    yield "app", f"{incident.app}, {incident.load}{options}"
    for fault in incident.faults:
        yield "broken" if fault.role in ("Cause", "Sustaining") else fault.role.lower(), _name_fault(fault)
    yield "root causes", ", ".join(incident.causes) or f"none: the outcome is {incident.outcome}"
    yield "promised alerts", "; ".join(_name_alert(alert) for alert in incident.alerts) or "none"
    yield from (("solution", _name_procedure(solution)) for solution in incident.solutions)
    yield from (("decoy", _name_procedure(decoy)) for decoy in incident.decoys)


def _name_fault(fault: BrokenTarget) -> str:
    parameters = ", ".join(f"{name}: {json.dumps(value)}" for name, value in fault.parameters.items())
    title = f": {fault.title}" if fault.title else ""
    return f"{fault.name}, {fault.type} on {fault.target}" + (f" with {parameters}" if parameters else "") + title


def _name_alert(alert: PromisedAlert) -> str:
    return name_alert(alert) + (f" within {alert.within_seconds} s" if alert.within_seconds else "")


def _name_procedure(procedure: NamedProcedure) -> str:
    return f"{procedure.name}: {procedure.description}" if procedure.description else procedure.name
