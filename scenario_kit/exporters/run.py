"""Export formats by name, and how to run one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from scenario_kit.errors import UsageError
from scenario_kit.exporters.files import ExportedFolder, write_folders
from scenario_kit.exporters.formats.aiopslab import build_aiopslab_problems
from scenario_kit.exporters.formats.harbor import build_offline_tasks
from scenario_kit.exporters.formats.harbor_live import build_live_tasks
from scenario_kit.exporters.formats.inspect import build_inspect_task
from scenario_kit.exporters.formats.itbench import build_itbench_scenarios
from scenario_kit.exporters.formats.openrca import build_openrca_systems
from scenario_kit.exporters.formats.rcaeval import build_rcaeval_cases
from scenario_kit.exporters.formats.sregym import build_sregym_problems
from scenario_kit.exporters.scenario_incident import ScenarioIncident, read_scenarios
from scenario_kit.exporters.snapshot_incident import SnapshotIncident, find_snapshots, read_incident

#: Formats that export snapshots.
SNAPSHOT_FORMATS: Final[Mapping[str, Callable[[Sequence[SnapshotIncident]], list[ExportedFolder]]]] = {
    "harbor": build_offline_tasks,
    "inspect": build_inspect_task,
    "openrca": build_openrca_systems,
    "rcaeval": build_rcaeval_cases,
}
#: Formats that export scenarios.
SCENARIO_FORMATS: Final[Mapping[str, Callable[[Sequence[ScenarioIncident]], list[ExportedFolder]]]] = {
    "harbor-live": build_live_tasks,
    "aiopslab": build_aiopslab_problems,
    "sregym": build_sregym_problems,
    "itbench": build_itbench_scenarios,
}
FORMATS: Final = (*SNAPSHOT_FORMATS, *SCENARIO_FORMATS)


class ExportResult(NamedTuple):
    """The folders written, and notes on what could not be exported and why."""

    written: list[Path]
    notes: list[str]


def run_export(kind: str, paths: Sequence[Path], out: Path) -> ExportResult:
    """Export snapshots or scenarios in a format.

    Raises:
        UsageError: no such format or path, or an output folder already exists.
        AuthoringError: an incident cannot be exported.
    """
    if build := SNAPSHOT_FORMATS.get(kind):
        folders = build([read_incident(folder) for folder in find_snapshots(list(paths))])
    elif build_live := SCENARIO_FORMATS.get(kind):
        folders = build_live(read_scenarios(paths))
    else:
        raise UsageError(f"there is no format '{kind}'", fix=f"one of: {', '.join(FORMATS)}")
    return ExportResult(write_folders(folders, out), [note for folder in folders for note in folder.notes])
