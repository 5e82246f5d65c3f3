"""Write drafts into a folder, all or none, without overwriting anything."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from scenario_kit.catalog import Catalog
from scenario_kit.draft import build_schema_header, dump_schema
from scenario_kit.errors import UsageError
from scenario_kit.importers import ImportedFile
from scenario_kit.load.staged_folders import write_files
from scenario_kit.model.shortening import shorten_list


def write_drafts(drafts: Sequence[ImportedFile], out: Path, catalog: Catalog) -> None:
    """Write the drafts below a folder, each scenario with the modeline that points editors to its schema.

    Raises:
        UsageError: a file already exists, or ``out`` is not a folder; nothing is written.
        OSError: a file cannot be written; written files are removed.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a folder", fix="pass a folder with --out")
    taken = [str(path) for draft in drafts if (path := _find_obstacle(out, draft)) is not None]
    if taken:
        shown = shorten_list(taken, 5)
        raise UsageError(
            f"{shown} already exists; nothing was written", fix="choose another folder with --out, or move the file"
        )
    texts = dict(_list_texts(drafts, out, catalog))
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=".scenario-kit-", dir=out.absolute().parent))
    try:
        write_files(stage / "drafts", texts)
        _publish(stage / "drafts", out, list(texts))
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _find_obstacle(out: Path, draft: ImportedFile) -> Path | None:
    """Return the existing path that conflicts with a draft: its file, or its scenario's folder."""
    file = out / draft.path
    if file.name == "scenario.yaml":
        return file.parent if os.path.lexists(file.parent) else None
    return file if os.path.lexists(file) else None


def _list_texts(drafts: Sequence[ImportedFile], out: Path, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Yield the path of each file below the folder, and its text."""
    for draft in drafts:
        header, copy = "", None
        if draft.path.endswith("/scenario.yaml"):
            header, copy = build_schema_header(out / draft.path)
        yield draft.path, header + draft.text
        if copy is not None and not copy.exists():
            yield str(copy.relative_to(out.absolute())), dump_schema(catalog)


def _publish(stage: Path, out: Path, names: Sequence[str]) -> None:
    """Move the files into place: atomically if the folder is new, else one by one with rollback."""
    if not os.path.lexists(out):
        stage.rename(out)
        return
    made: list[Path] = []
    try:
        for name in names:
            made += _make_folders((out / name).parent)
            os.link(stage / name, out / name)  # fails if the file has appeared in the meantime
            made.append(out / name)
    except BaseException:
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        raise


def _make_folders(folder: Path) -> list[Path]:
    """Create a folder with its parents; return the new ones, outermost first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir()
    return list(reversed(missing))
