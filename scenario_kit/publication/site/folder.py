"""A site as a folder: the old one or the new one, never a mixture; between two renames, for an instant, none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from scenario_kit.errors import UsageError
from scenario_kit.publication.site.pages import MARK


def check_goal(goal: Path) -> None:
    """Check that a site may be written there.

    Raises:
        UsageError: there is something that is neither empty nor a site.
    """
    if goal.is_symlink() or (goal.exists() and not goal.is_dir()):
        raise UsageError(f"{goal} is no folder", fix="name another one with --out")
    if goal.is_dir() and any(goal.iterdir()) and not (goal / MARK).is_file():
        raise UsageError(
            f"{goal} holds other files, and no {MARK}: it is no site that may be replaced",
            fix="name another folder with --out, or empty this one",
        )


def write_site(files: Mapping[str, str], goal: Path) -> None:
    """Write the files beside the goal, then put them in its place.

    Raises:
        UsageError: there is something else, or a path leads out of the folder.
    """
    check_goal(goal)
    goal.parent.mkdir(parents=True, exist_ok=True)
    new = goal.with_name(f".{goal.name}.{os.getpid()}.partial")
    old = goal.with_name(f".{goal.name}.{os.getpid()}.old")
    try:
        for name, text in files.items():
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                raise UsageError(f"'{name}' is no name of a page", fix="give the scenario another name")
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_text(text, encoding="utf-8")
        _exchange(new, old, goal)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _exchange(new: Path, old: Path, goal: Path) -> None:
    """Move the goal away and the new folder there; if that fails, move it back."""
    present = goal.exists()
    if present:
        goal.rename(old)
    try:
        new.rename(goal)
    except OSError:
        if present:
            old.rename(goal)
        raise
