"""Atomic creation of folders: they are staged next to their destination and renamed at the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from scenario_kit.errors import UsageError


@contextmanager
def stage_folders(goals: Sequence[Path], *, replace: bool = False) -> Iterator[tuple[Path, ...]]:
    """Yield staging folders for the caller to fill, and rename them to ``goals`` on success.

    Each rename is atomic, in the given order; the existence of the last goal implies that all exist. With ``replace``,
    an existing goal is moved away just before, and removed at the end.

    Raises:
        UsageError: a goal already exists and is not to be replaced, or its parent is not writable.
    """
    for goal in goals:
        if not replace and (goal.exists() or goal.is_symlink()):
            raise UsageError(f"{goal} already exists", fix="remove it, or choose another folder with --out")
    staged = tuple(goal.with_name(f".{goal.name}.{os.getpid()}.partial") for goal in goals)
    made: list[Path] = []
    try:
        for folder in staged:
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            made.append(folder)
        yield staged
        moved: list[tuple[Path, Path]] = []
        try:
            for folder, goal in zip(staged, goals, strict=True):
                if replace and goal.exists():
                    made.append(goal.rename(folder.with_suffix(".old")))
                    moved.append((goal, made[-1]))
                moved.append((folder, folder.rename(goal)))
        except OSError:
            for before, after in reversed(moved):
                after.rename(before)
            raise
    finally:
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts below a folder, by their slash-separated relative paths."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
