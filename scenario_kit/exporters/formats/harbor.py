"""Offline Harbor tasks of recorded incidents, format 1.4 (https://github.com/laude-institute/harbor)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from scenario_kit import __version__
from scenario_kit.exporters.brief import render_instruction
from scenario_kit.exporters.files import ExportedFile, ExportedFolder
from scenario_kit.exporters.reference_answers import build_oracle_answer
from scenario_kit.exporters.rules import RULES_FILE, VERIFIER, VERIFIER_FILE, build_rules
from scenario_kit.exporters.snapshot_incident import SnapshotIncident
from scenario_kit.model.authored.contamination_canary import CANARY
from scenario_kit.snapshot.folder.manifest import MANIFEST, compute_checksum

SCHEMA_VERSION: Final = "1.4"
#: Base image of both containers; the same as the kit's own (Containerfile).
BASE_IMAGE: Final = (
    "docker.io/library/debian:trixie-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f"
)
#: Paths in the containers.
SNAPSHOT_PATH: Final = "/app/snapshot"
ANSWER_PATH: Final = "/app/answer.json"
#: Files about the injection, which only incidents have; their absence would identify a control.
TELLTALES: Final = (MANIFEST, "init__*", "post_fault_injection__*")

_TASK: Final = """\
schema_version = "{schema}"
artifacts = ["{answer}"]

[task]
name = "scenario-kit/{name}"
version = "{version}"
description = "Find the root cause of an incident in a microservice application, or that there is none."
keywords = ["sre", "kubernetes", "root-cause-analysis"]

[metadata]
category = "sre"
app = "{app}"
snapshot = "{digest}"
canary = "{canary}"

[agent]
timeout_sec = 3600.0

[verifier]
timeout_sec = 300.0
environment_mode = "separate"

[verifier.environment]
cpus = 1
memory_mb = 1024

[environment]
build_timeout_sec = 1200.0
cpus = 2
memory_mb = 4096
workdir = "/app"
"""
#: Dockerfile of the solver's container.
SOLVER_IMAGE: Final = f"""\
FROM {BASE_IMAGE}
RUN apt-get update && apt-get install --yes --no-install-recommends \\
    ca-certificates curl git jq python3 python3-pandas ripgrep && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY snapshot /app/snapshot
"""
#: Dockerfile of the verifier's container.
VERIFIER_IMAGE: Final = f"""\
FROM {BASE_IMAGE}
RUN apt-get update && apt-get install --yes --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
COPY . /tests
"""
_TEST: Final = """\
#!/bin/bash
set -eu
mkdir -p /logs/verifier
python3 /tests/{verifier} --rules /tests/{rules} --answer {answer} \\
  --reward /logs/verifier/reward.json --decisions /logs/verifier/decisions.json
"""
_SOLVE: Final = """\
#!/bin/bash
set -eu
cp /solution/answer.json {answer}
"""


def build_offline_tasks(incidents: Sequence[SnapshotIncident]) -> list[ExportedFolder]:
    """Build one task per snapshot."""
    return [_build_task(incident) for incident in incidents]


def _build_task(incident: SnapshotIncident) -> ExportedFolder:
    """Build the task of a snapshot.

    ``environment`` is the solver's container. ``tests`` holds the truth and the verifier, built into a second container
    after the solver's has stopped. Only the oracle agent gets ``solution``.
    """
    name = incident.name.lower()
    task = _TASK.format(
        schema=SCHEMA_VERSION, answer=ANSWER_PATH, name=name, version=__version__, app=incident.manifest.app,
        digest=compute_checksum(incident.folder / MANIFEST), canary=CANARY,
    )  # fmt: skip
    instruction = render_instruction(
        incident.brief, incident.manifest.app, incident.namespaces, SNAPSHOT_PATH, ANSWER_PATH
    )
    test = _TEST.format(verifier=VERIFIER_FILE, rules=RULES_FILE, answer=ANSWER_PATH)
    answer = json.dumps(build_oracle_answer(incident.truth), indent=1) + "\n"
    files = {
        "task.toml": ExportedFile(task),
        "instruction.md": ExportedFile(instruction),
        "environment/Dockerfile": ExportedFile(SOLVER_IMAGE),
        "environment/snapshot": ExportedFile(copy_of=incident.folder, without=TELLTALES),
        "tests/Dockerfile": ExportedFile(VERIFIER_IMAGE),
        "tests/test.sh": ExportedFile(test, program=True),
        f"tests/{VERIFIER_FILE}": ExportedFile(copy_of=VERIFIER),
        f"tests/{RULES_FILE}": ExportedFile(build_rules(incident.truth).render()),
        "solution/solve.sh": ExportedFile(_SOLVE.format(answer=ANSWER_PATH), program=True),
        "solution/answer.json": ExportedFile(answer),
    }
    return ExportedFolder(name, files, incident.secrets, ("task.toml", "instruction.md", "environment/Dockerfile"))
