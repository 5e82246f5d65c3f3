"""Harbor tasks with a live incident: the lab runs in its own container behind an MCP server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from scenario_kit import __version__
from scenario_kit.exporters.files import ExportedFile, ExportedFolder
from scenario_kit.exporters.formats.harbor import BASE_IMAGE, SCHEMA_VERSION, VERIFIER_IMAGE
from scenario_kit.exporters.kubectl_repair import list_repair_calls
from scenario_kit.exporters.reference_answers import NO_INCIDENT, build_control_truth, build_oracle_answer
from scenario_kit.exporters.rules import PROGRAMS, RULES_FILE, VERIFIER, VERIFIER_FILE, build_rules
from scenario_kit.exporters.scenario_incident import (
    ScenarioIncident,
    build_control_object,
    build_scenario_object,
    clear_namespace,
)
from scenario_kit.model.authored.contamination_canary import CANARY
from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.solver.investigation import ANSWER_FORM

URL: Final = "http://incident:8765/mcp"
_RECORD: Final = "/tmp/records/record.json"  # noqa: S108  # in a container
_TASK: Final = """\
schema_version = "{schema}"
artifacts = [{{source = "{record}", service = "incident"}}]

[task]
name = "scenario-kit/{name}"
version = "{version}"
description = "Find the root cause of a live incident in a microservice application, and repair it."
keywords = ["sre", "kubernetes", "root-cause-analysis", "mitigation"]

[metadata]
category = "sre"
app = "{app}"
canary = "{canary}"

[agent]
timeout_sec = 7200.0

[verifier]
timeout_sec = 300.0
environment_mode = "separate"

[[verifier.collect]]
command = "python3 /opt/incident/incident_gateway.py --finish"
service = "incident"
timeout_sec = 1200.0

[verifier.environment]
cpus = 1
memory_mb = 1024

[environment]
build_timeout_sec = 1800.0
cpus = 2
memory_mb = 2048
workdir = "/app"

[environment.healthcheck]
command = "curl --silent --fail http://incident:8765/healthz"
interval_sec = 5.0
timeout_sec = 5.0
start_period_sec = 600.0
retries = 120

[[environment.mcp_servers]]
name = "incident"
transport = "streamable-http"
url = "{url}"
"""
_INSTRUCTION: Final = """\
# You are on call

{brief}

The page may be a false alarm: sometimes nothing is wrong.

The app {app} runs on a cluster that you can reach only through the MCP server `incident` ({url}). `get_incident`
returns its namespace and your budgets; `get_alerts`, `get_metrics`, `get_traces`, `get_logs` and
`exec_kubectl_cmd_safely` inspect and change the cluster. The incident's clock stops while you think.

1. Find the root cause: the object, as `namespace/Kind/name`, whose repair would end the incident. Do not name
   objects that are only affected. Call `submit` with it as `ans`: {form}
2. Then repair the app, and call `submit` again, without `ans`.

The first is scored 0 if a root cause is missing, else by the share of the named objects that are root causes; if
nothing is wrong, an answer that names nothing is right. The second scores 1 if the alerts clear and stay clear
while the whole app is running and serving its users. The score is the mean of both.
"""
_COMPOSE: Final = """\
services:
  main:
    depends_on: [incident]
  incident:
    build: ./incident
    tmpfs: ["/tmp:size=4g,mode=1777"]
    cap_drop: [ALL]
"""
_MAIN_IMAGE: Final = f"""\
FROM {BASE_IMAGE}
RUN apt-get update && apt-get install --yes --no-install-recommends \\
    ca-certificates curl jq python3 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
"""
#: Harnesses run commands in a shell, which the lab image lacks, so its files are copied into an image with one.
_INCIDENT_IMAGE: Final = f"""\
FROM scenario-kit-lab:{__version__} AS lab
FROM {BASE_IMAGE}
RUN apt-get update && apt-get install --yes --no-install-recommends \\
    ca-certificates libstdc++6 python3 python3-pip && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir --target /opt/sdk 'mcp>=2.3,<3'
COPY --from=lab /usr/local/lib/python3.13/dist-packages /usr/local/lib/python3.13/dist-packages
COPY --from=lab /usr/bin/scenario-kit /usr/bin/scenario-kit
COPY --from=lab /opt/scenario-kit /opt/scenario-kit
COPY . /opt/incident
ENV HOME=/tmp PYTHONPATH=/opt/sdk PYTHONUNBUFFERED=1 SCENARIO_KIT_CACHE=/opt/scenario-kit
ENTRYPOINT ["/usr/bin/python3", "/opt/incident/incident_gateway.py", "--listen", "0.0.0.0"]
CMD ["/opt/incident/scenario.yaml"]
"""
_TEST: Final = """\
#!/bin/bash
set -eu
mkdir -p /logs/verifier
python3 /tests/{verifier} --rules /tests/{rules} --record {record} \\
  --reward /logs/verifier/reward.json --decisions /logs/verifier/decisions.json
"""
_SOLVE: Final = f"""\
#!/bin/bash
set -eu
python3 /solution/incident_client.py --url {URL} --calls /solution/calls.json
"""


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
    task = _TASK.format(
        schema=SCHEMA_VERSION, record=_RECORD, name=name, version=__version__, app=f"{app.name} {app.version}",
        canary=CANARY, url=URL,
    )  # fmt: skip
    brief = incident.scenario.spec.brief.strip()
    instruction = _INSTRUCTION.format(brief=brief, app=app.name, url=URL, form=ANSWER_FORM)
    test = _TEST.format(verifier=VERIFIER_FILE, rules=RULES_FILE, record=_RECORD)
    files = {
        "task.toml": ExportedFile(task),
        "instruction.md": ExportedFile(instruction),
        "environment/docker-compose.yaml": ExportedFile(_COMPOSE),
        "environment/Dockerfile": ExportedFile(_MAIN_IMAGE),
        "environment/incident/Dockerfile": ExportedFile(_INCIDENT_IMAGE),
        "environment/incident/scenario.yaml": ExportedFile(json.dumps(scenario, indent=1) + "\n"),
        "environment/incident/incident_gateway.py": ExportedFile(copy_of=PROGRAMS / "incident_gateway.py"),
        "environment/incident/incident_client.py": ExportedFile(copy_of=PROGRAMS / "incident_client.py"),
        "tests/Dockerfile": ExportedFile(VERIFIER_IMAGE),
        "tests/test.sh": ExportedFile(test, program=True),
        f"tests/{VERIFIER_FILE}": ExportedFile(copy_of=VERIFIER),
        f"tests/{RULES_FILE}": ExportedFile(build_rules(clear_namespace(truth)).render()),
        "solution/solve.sh": ExportedFile(_SOLVE, program=True),
        "solution/incident_client.py": ExportedFile(copy_of=PROGRAMS / "incident_client.py"),
        "solution/calls.json": ExportedFile(json.dumps(calls, indent=1) + "\n"),
    }
    if incident.own_faults:
        files["environment/incident/faults"] = ExportedFile(copy_of=incident.folder / "faults")
    secrets = (incident.name, *(use.type for use in incident.scenario.spec.faults))
    return ExportedFolder(name, files, secrets, ("task.toml", "instruction.md"), tuple(notes))
