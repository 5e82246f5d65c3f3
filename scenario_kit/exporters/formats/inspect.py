"""An offline Inspect task (https://inspect.aisi.org.uk) with all incidents as samples of one data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.exporters.files import ExportedFile, ExportedFolder
from scenario_kit.exporters.formats.harbor import TELLTALES
from scenario_kit.exporters.rules import PROGRAMS, VERIFIER, VERIFIER_FILE, build_rules
from scenario_kit.exporters.snapshot_incident import SnapshotIncident
from scenario_kit.exporters.task_files import render_instruction, render_task_file

FOLDER_NAME: Final = "incidents"
_PROGRAM: Final = PROGRAMS / "inspect_incidents.py"


def build_inspect_task(incidents: Sequence[SnapshotIncident]) -> list[ExportedFolder]:
    """Build one folder: the task, the container of each sample, and the truths."""
    files = {"incidents.py": ExportedFile(copy_of=_PROGRAM), VERIFIER_FILE: ExportedFile(copy_of=VERIFIER)}
    shown = []
    for each in incidents:
        place = f"samples/{each.name.lower()}"
        text = render_instruction(each.brief, each.manifest.app, each.namespaces, "snapshot", "answer.json")
        files |= {
            f"{place}/instruction.md": ExportedFile(text),
            f"{place}/Dockerfile": ExportedFile(render_task_file("solver.Dockerfile.j2")),
            f"{place}/compose.yaml": ExportedFile(render_task_file("inspect/compose.yaml")),
            f"{place}/snapshot": ExportedFile(copy_of=each.folder, without=TELLTALES),
            f"truths/{each.name.lower()}.json": ExportedFile(build_rules(each.truth).render()),
        }
        shown.append(f"{place}/instruction.md")
    secrets = tuple(name for each in incidents for name in each.secrets)
    return [ExportedFolder(FOLDER_NAME, files, secrets, tuple(shown))]
