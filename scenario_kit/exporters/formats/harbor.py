"""Offline Harbor tasks of recorded incidents, format 1.4 (https://github.com/laude-institute/harbor)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from scenario_kit.exporters.files import ExportedFile, ExportedFolder
from scenario_kit.exporters.reference_answers import build_oracle_answer
from scenario_kit.exporters.rules import RULES_FILE, VERIFIER, VERIFIER_FILE, build_rules
from scenario_kit.exporters.snapshot_incident import SnapshotIncident
from scenario_kit.exporters.task_files import render_instruction, render_task_file
from scenario_kit.snapshot.folder.manifest import MANIFEST, compute_checksum

#: Paths in the containers.
SNAPSHOT_PATH: Final = "/app/snapshot"
ANSWER_PATH: Final = "/app/answer.json"
#: Files about the injection, which only incidents have; their absence would identify a control.
TELLTALES: Final = (MANIFEST, "init__*", "post_fault_injection__*")


def build_offline_tasks(incidents: Sequence[SnapshotIncident]) -> list[ExportedFolder]:
    """Build one task per snapshot."""
    return [_build_task(incident) for incident in incidents]


def _build_task(incident: SnapshotIncident) -> ExportedFolder:
    """Build the task of a snapshot.

    ``environment`` is the solver's container. ``tests`` holds the truth and the verifier, built into a second container
    after the solver's has stopped. Only the oracle agent gets ``solution``.
    """
    name = incident.name.lower()
    task = render_task_file(
        "harbor/task.toml.j2", answer=ANSWER_PATH, name=name, app=incident.manifest.app,
        digest=compute_checksum(incident.folder / MANIFEST),
    )  # fmt: skip
    instruction = render_instruction(
        incident.brief, incident.manifest.app, incident.namespaces, SNAPSHOT_PATH, ANSWER_PATH
    )
    test = render_task_file("test.sh.j2", input="answer", path=ANSWER_PATH)
    answer = json.dumps(build_oracle_answer(incident.truth), indent=1) + "\n"
    files = {
        "task.toml": ExportedFile(task),
        "instruction.md": ExportedFile(instruction),
        "environment/Dockerfile": ExportedFile(render_task_file("solver.Dockerfile.j2")),
        "environment/snapshot": ExportedFile(copy_of=incident.folder, without=TELLTALES),
        "tests/Dockerfile": ExportedFile(render_task_file("verifier.Dockerfile.j2")),
        "tests/test.sh": ExportedFile(test, program=True),
        f"tests/{VERIFIER_FILE}": ExportedFile(copy_of=VERIFIER),
        f"tests/{RULES_FILE}": ExportedFile(build_rules(incident.truth).render()),
        "solution/solve.sh": ExportedFile(render_task_file("harbor/solve.sh.j2", answer=ANSWER_PATH), program=True),
        "solution/answer.json": ExportedFile(answer),
    }
    return ExportedFolder(name, files, incident.secrets, ("task.toml", "instruction.md", "environment/Dockerfile"))
