"""Collections of one's own: which one a file lies in, and what it demands of its scenarios.

A collection is a folder with ``catalog/`` and, for apps, ``templates/``. It is found from any of its files upwards.
What it demands stands in ``collection.yaml``, and does not follow from the name of a folder.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.yaml.document import read_document

#: The file in which a collection says what it demands; it counts for everything below its folder.
FILE: Final = "collection.yaml"
#: What lies in the folder `catalog` of a collection; a folder of that name without any of these is something else.
FAMILIES: Final = ("apps", "faults", "alerts", "scenarios")
_DEMANDS: Final = ("Merged", "Draft")


def find_collection(path: Path) -> Path | None:
    """Find the root of the collection in which a file or folder lies; None where it lies in none."""
    here = path.absolute()
    return next((folder for folder in (here, *here.parents) if _is_root(folder)), None)


def _is_root(folder: Path) -> bool:
    """Return whether a folder holds a catalogue; one that may not be looked into holds none."""
    try:
        return (folder / "catalog").is_dir() and any((folder / "catalog" / family).is_dir() for family in FAMILIES)
    except PermissionError:
        return False


def requires_merge(path: Path) -> bool:
    """Return whether a scenario that lies there has to be complete, as its collection says; where none says so, it may
    lack.

    Raises:
        UsageError: the collection's file does not say it.
    """
    here = path.absolute()
    found = next((folder / FILE for folder in here.parents if (folder / FILE).is_file()), None)
    return found is not None and _demand(found, found.stat().st_mtime_ns) == "Merged"


@lru_cache(maxsize=64)
def _demand(file: Path, _version: int) -> str:
    try:
        data = read_document(file).data
    except AuthoringError:
        data = None
    demand = data.get("scenarios") if isinstance(data, dict) and set(data) == {"scenarios"} else None
    if demand not in _DEMANDS:
        raise UsageError(
            f"{file} does not say what the collection demands of its scenarios",
            fix=f"write `scenarios: {' or `scenarios: '.join(f'{d}`' for d in _DEMANDS)}, and nothing else",
        )
    return str(demand)
