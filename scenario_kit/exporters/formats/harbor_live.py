"""Harbor tasks with a live incident: the lab runs in its own container behind an MCP server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from scenario_kit.exporters.files import ExportedFile, ExportedFolder
from scenario_kit.exporters.kubectl_repair import list_repair_calls
from scenario_kit.exporters.reference_answers import NO_INCIDENT, build_control_truth, build_oracle_answer
from scenario_kit.exporters.rules import PROGRAMS, RULES_FILE, VERIFIER, VERIFIER_FILE, build_rules
from scenario_kit.exporters.scenario_incident import (
    ScenarioIncident,
    build_control_object,
    build_scenario_object,
    clear_namespace,
)
from scenario_kit.exporters.task_files import render_task_file
from scenario_kit.scoring.entities.truth import IncidentTruth

URL: Final = "http://incident:8765/mcp"
_RECORD: Final = "/tmp/records/record.json"  # noqa: S108  # in a container


def build_live_tasks(incidents: Sequence[ScenarioIncident]) -> list[ExportedFolder]:
    """Build one task per scenario and one per control twin.

    If kubectl alone cannot repair a scenario, only its twin is built: no oracle could verify the scoring.
    """
    folders = []
    for each in incidents:
        notes: list[str] = []
        broken = each.truth.outcome == "Incident"
        calls = list_oracle_calls(each)
        if broken and calls is None:
            notes.append(
                f"{each.name}: only the control: kubectl alone cannot carry out its repair, so there is no oracle"
            )
        elif calls is not None:
            folders.append(_build_task(each, each.truth, calls, build_scenario_object(each.scenario), notes))
        if broken:
            control = [_submit(NO_INCIDENT), _submit(None)]
            twin, truth = build_control_object(each.scenario), build_control_truth(each.truth)
            folders.append(_build_task(each, truth, control, twin, notes if calls is None else []))
    return folders


def list_oracle_calls(incident: ScenarioIncident) -> list[dict[str, Any]] | None:
    """List the oracle's calls: submit the truth, repair, submit again; None if kubectl alone cannot repair."""
    answer = _submit(build_oracle_answer(clear_namespace(incident.truth)))
    if incident.truth.outcome != "Incident":
        return [answer, _submit(None)]
    repair = list_repair_calls(incident.runbook)
    wait = {"tool": "wait", "arguments": {"seconds": 60}}
    return None if repair is None else [answer, *repair, wait, _submit(None)]


def _submit(answer: dict[str, Any] | None) -> dict[str, Any]:
    return {"tool": "submit", "arguments": {} if answer is None else {"ans": answer}}


def _build_task(
    incident: ScenarioIncident, truth: IncidentTruth, calls: list[dict[str, Any]], scenario: dict[str, Any],
    notes: list[str],
) -> ExportedFolder:  # fmt: skip
    app = incident.scenario.spec.app
    name = f"live-{incident.number}{'-twin' if scenario['metadata']['name'] != incident.name else ''}"
    task = render_task_file(
        "harbor-live/task.toml.j2", record=_RECORD, name=name, app=f"{app.name} {app.version}", url=URL
    )
    brief = incident.scenario.spec.brief.strip()
    instruction = render_task_file("harbor-live/instruction.md.j2", brief=brief, app=app.name, url=URL)
    test = render_task_file("test.sh.j2", input="record", path=_RECORD)
    files = {
        "task.toml": ExportedFile(task),
        "instruction.md": ExportedFile(instruction),
        "environment/docker-compose.yaml": ExportedFile(render_task_file("harbor-live/docker-compose.yaml")),
        "environment/Dockerfile": ExportedFile(render_task_file("harbor-live/main.Dockerfile.j2")),
        "environment/incident/Dockerfile": ExportedFile(render_task_file("harbor-live/incident.Dockerfile.j2")),
        "environment/incident/scenario.yaml": ExportedFile(json.dumps(scenario, indent=1) + "\n"),
        "environment/incident/incident_gateway.py": ExportedFile(copy_of=PROGRAMS / "incident_gateway.py"),
        "environment/incident/incident_client.py": ExportedFile(copy_of=PROGRAMS / "incident_client.py"),
        "tests/Dockerfile": ExportedFile(render_task_file("verifier.Dockerfile.j2")),
        "tests/test.sh": ExportedFile(test, program=True),
        f"tests/{VERIFIER_FILE}": ExportedFile(copy_of=VERIFIER),
        f"tests/{RULES_FILE}": ExportedFile(build_rules(clear_namespace(truth)).render()),
        "solution/solve.sh": ExportedFile(render_task_file("harbor-live/solve.sh.j2", url=URL), program=True),
        "solution/incident_client.py": ExportedFile(copy_of=PROGRAMS / "incident_client.py"),
        "solution/calls.json": ExportedFile(json.dumps(calls, indent=1) + "\n"),
    }
    if incident.own_faults:
        files["environment/incident/faults"] = ExportedFile(copy_of=incident.folder / "faults")
    secrets = (incident.name, *(use.type for use in incident.scenario.spec.faults))
    return ExportedFolder(name, files, secrets, ("task.toml", "instruction.md"), tuple(notes))
