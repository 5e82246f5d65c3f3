"""Folders that are there complete or not at all: they are written beside their place and moved there at the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scenario_kit.errors import UsageError


@contextmanager
def stage_folders(goals: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Stage folders: what is yielded is filled by the caller, and becomes ``goals`` when nothing went wrong.

    Each is moved in one step, in the given order; of several, the last one tells that all are there.

    Raises:
        UsageError: one of the goals exists already, or its parent cannot be written.
    """
    for goal in goals:
        if goal.exists() or goal.is_symlink():
            raise UsageError(f"{goal} exists already", fix="remove it, or name another folder with --out")
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
                folder.rename(goal)
                moved.append((goal, folder))
        except OSError:
            for goal, folder in moved:
                goal.rename(folder)
            raise
    finally:
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)
