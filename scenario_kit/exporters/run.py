"""The forms of exports by name, and what each is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from scenario_kit.errors import UsageError
from scenario_kit.exporters.files import ExportedFolder, write_folders
from scenario_kit.exporters.formats.harbor import build_offline_tasks
from scenario_kit.exporters.formats.inspect import build_inspect_task
from scenario_kit.exporters.snapshot_incident import SnapshotIncident, find_snapshots, read_incident


class SnapshotFormat(NamedTuple):
    """A form that is made of snapshots."""

    title: str
    build: Callable[[Sequence[SnapshotIncident]], list[ExportedFolder]]


#: Forms that are made of snapshots.
SNAPSHOT_FORMATS: Final[Mapping[str, SnapshotFormat]] = {
    "harbor": SnapshotFormat("Harbor tasks, offline", build_offline_tasks),
    "inspect": SnapshotFormat("an Inspect task with a sample for each", build_inspect_task),
}
FORMATS: Final = (*SNAPSHOT_FORMATS,)


def export_snapshots(kind: str, paths: Sequence[Path], out: Path) -> list[Path]:
    """Export snapshots in a form; the folders that were written.

    Raises:
        UsageError: there is no such form, no snapshot, or a folder exists already.
        AuthoringError: a snapshot cannot be exported.
    """
    if kind not in SNAPSHOT_FORMATS:
        raise UsageError(f"there is no format '{kind}'", fix=f"one of: {', '.join(FORMATS)}")
    build = SNAPSHOT_FORMATS[kind].build
    return write_folders(build([read_incident(folder) for folder in find_snapshots(list(paths))]), out)
