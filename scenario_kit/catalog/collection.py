"""Collections: locate the collection of a file, and read its requirements for scenarios.

A collection is a folder with ``catalog/`` and, for apps, ``templates/``; it is searched upwards from any of its files.
Its requirements are declared in ``collection.yaml``.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.yaml.document import read_document

#: The file with the requirements of a collection, which apply to everything below its folder.
FILE: Final = "collection.yaml"
#: Subfolders of `catalog` in a collection; a folder without any of them is not a collection.
FAMILIES: Final = ("apps", "faults", "alerts", "scenarios")
_DEMANDS: Final = ("Merged", "Draft")


def find_collection(path: Path) -> Path | None:
    """Find the root of the collection that contains a path; None if there is none."""
    here = path.absolute()
    return next((folder for folder in (here, *here.parents) if _is_root(folder)), None)


def _is_root(folder: Path) -> bool:
    """Return whether a folder contains a catalogue; an unreadable folder does not."""
    try:
        return (folder / "catalog").is_dir() and any((folder / "catalog" / family).is_dir() for family in FAMILIES)
    except PermissionError:
        return False


def requires_merge(path: Path) -> bool:
    """Return whether the collection of a scenario requires it to be complete; False without a declaration.

    Raises:
        UsageError: the collection's file is invalid.
    """
    here = path.absolute()
    found = next((folder / FILE for folder in here.parents if (folder / FILE).is_file()), None)
    return found is not None and _read_requirement(found, found.stat().st_mtime_ns) == "Merged"


@lru_cache(maxsize=64)
def _read_requirement(file: Path, _version: int) -> str:
    try:
        data = read_document(file).data
    except AuthoringError:
        data = None
    demand = data.get("scenarios") if isinstance(data, dict) and set(data) == {"scenarios"} else None
    if demand not in _DEMANDS:
        raise UsageError(
            f"{file} does not declare the collection's requirement for scenarios",
            fix=f"write only `scenarios: {' or `scenarios: '.join(f'{d}`' for d in _DEMANDS)}",
        )
    return str(demand)
