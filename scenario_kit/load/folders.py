"""Find the user's folders, and list files in folders of any depth and size, with loops of links or no permissions."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

#: Select an entry by the path of its folder and its name.
Desired = Callable[[str, str], bool]


def find_user_folder(standard: str, usual: str, variable: str = "") -> Path:
    """Return the folder that ``variable`` names, else this program's in that of ``standard``, or ``usual`` (XDG).

    Raises:
        RuntimeError: the user has no home directory.
    """
    if explicit := os.environ.get(variable):
        return Path(explicit).expanduser().absolute()
    return Path(os.environ.get(standard) or Path.home() / usual).absolute() / "scenario-kit"


def find_cache_folder() -> Path:
    """Return the folder of all that can be downloaded again: ``SCENARIO_KIT_CACHE``, or in the user's cache (XDG)."""
    return find_user_folder("XDG_CACHE_HOME", ".cache", "SCENARIO_KIT_CACHE")


def normalize_path(path: Path) -> Path:
    """Return an absolute path without ``..``; links are kept."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() follows links


def find_folder_name(file: Path) -> str:
    """Return the name of a file's folder, also where its path has none: ``scenario.yaml``, ``../scenario.yaml``."""
    return normalize_path(file).parent.name


def list_below(folder: Path, desired: Desired, closed: str) -> list[Path]:
    """List all selected entries below a folder, sorted; they may be files or not.

    Links to folders are not followed. A folder that cannot be opened is represented by the path that ``closed`` would
    have in it: reading that fails and reports the reason.
    """
    found, left = [], [str(folder)]
    while left:
        current = left.pop()
        try:
            with os.scandir(current) as entries:
                for entry in entries:
                    if desired(current, entry.name):
                        found.append(entry.path)
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
        except OSError:
            found.append(os.path.join(current, closed))  # noqa: PTH118 - strings are faster, and there may be many
    return [Path(path) for path in sorted(found)]
