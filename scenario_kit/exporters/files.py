"""Exported files as values, and atomic writing of the folders that contain them."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.load.staged_folders import stage_folders
from scenario_kit.model.json_document import format_json


class Table(NamedTuple):
    """A CSV table; ``read`` streams its rows while the file is written."""

    columns: Sequence[str]
    read: Callable[[], Iterable[Sequence[object]]]


class ExportedFile(NamedTuple):
    """A text, a table, or a copy of a file or folder.

    ``program`` makes the file executable; ``without`` are glob patterns left out of a copied folder.
    """

    text: str = ""
    copy_of: Path | None = None
    table: Table | None = None
    program: bool = False
    without: tuple[str, ...] = ()


def export_document(document: Any) -> ExportedFile:
    """Return the file of a JSON document."""
    return ExportedFile(format_json(document))


class ExportedFolder(NamedTuple):
    """A folder to write: files by slash-separated relative path.

    Files listed in ``shown`` are visible to solvers and must not contain ``secrets``. ``notes`` say what could not be
    exported, and why.
    """

    name: str
    files: Mapping[str, ExportedFile]
    secrets: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def write_folders(folders: Sequence[ExportedFolder], out: Path) -> list[Path]:
    """Write folders below ``out``: all of them, or none.

    Raises:
        UsageError: a folder already exists.
        AuthoringError: a file visible to solvers contains a name that gives the answer away.
    """
    for folder in folders:
        _require_no_secrets(folder)
    targets = [out / folder.name for folder in folders]
    with stage_folders(targets) as staged:
        for folder, target in zip(folders, staged, strict=True):
            for path, file in folder.files.items():
                _write_file(target / path, file)
    return targets


def _require_no_secrets(folder: ExportedFolder) -> None:
    for path in folder.shown:
        found = [each for each in folder.secrets if "-" in each and each in folder.files[path].text]
        if found:
            raise AuthoringError(
                f"{folder.name}/{path} would contain {found[0]!r}, which gives the answer away", fix="reword the brief"
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
