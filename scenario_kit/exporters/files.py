"""Files of an export as values, and the folders that they become, complete or not at all."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.snapshot.folder.staging import stage_folders


class Table(NamedTuple):
    """A table as comma-separated values; ``read`` yields its rows when it is written, and never holds all of them."""

    columns: Sequence[str]
    read: Callable[[], Iterable[Sequence[object]]]


class ExportedFile(NamedTuple):
    """A text, a table, or the file or folder that is copied; a program can be executed."""

    text: str = ""
    copy_of: Path | None = None
    table: Table | None = None
    program: bool = False
    without: tuple[str, ...] = ()


class ExportedFolder(NamedTuple):
    """A folder to be: files by their paths in it, with slashes. ``secrets`` may not stand in what ``shown`` names.

    ``notes`` say what of the incidents is not in it, and why.
    """

    name: str
    files: Mapping[str, ExportedFile]
    secrets: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def write_folders(folders: Sequence[ExportedFolder], out: Path) -> list[Path]:
    """Write folders below ``out``; all of them are complete afterwards, or none exists.

    Raises:
        UsageError: one of them exists already.
        AuthoringError: a text that solvers read holds a name that gives the answer away.
    """
    for folder in folders:
        _require_no_secrets(folder)
    goals = [out / folder.name for folder in folders]
    with stage_folders(goals) as staged:
        for folder, place in zip(folders, staged, strict=True):
            for path, file in folder.files.items():
                _write_file(place / path, file)
    return goals


def _require_no_secrets(folder: ExportedFolder) -> None:
    for path in folder.shown:
        found = [each for each in folder.secrets if "-" in each and each in folder.files[path].text]
        if found:
            raise AuthoringError(
                f"{folder.name}/{path} would say {found[0]!r}, which gives the answer away", fix="reword the brief"
            )


def _write_file(path: Path, file: ExportedFile) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if file.table is not None:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(file.table.columns)
            writer.writerows(file.table.read())
    elif file.copy_of is None:
        path.write_text(file.text, encoding="utf-8")
    elif file.copy_of.is_dir():
        shutil.copytree(file.copy_of, path, ignore=shutil.ignore_patterns(*file.without))
    else:
        shutil.copyfile(file.copy_of, path)
    if file.program:
        path.chmod(0o755)
