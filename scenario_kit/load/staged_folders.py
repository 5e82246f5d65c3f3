"""Atomic creation of folders: they are staged next to their destination and renamed at the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scenario_kit.errors import UsageError


@contextmanager
def stage_folders(goals: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Yield staging folders for the caller to fill, and rename them to ``goals`` on success.

    Each rename is atomic, in the given order; the existence of the last goal implies that all exist.

    Raises:
        UsageError: a goal already exists, or its parent is not writable.
    """
    for goal in goals:
        if goal.exists() or goal.is_symlink():
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
                folder.rename(goal)
                moved.append((goal, folder))
        except OSError:
            for goal, folder in moved:
                goal.rename(folder)
            raise
    finally:
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)
