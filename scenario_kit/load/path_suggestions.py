"""Suggestions for missing files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scenario_kit.model.spelling import ask_which, suggest

#: Scenario folders in the working directory, in order of preference.
COLLECTIONS: Final = (Path("catalog") / "scenarios", Path("scenarios"))


def suggest_path(path: Path) -> str:
    """Suggest an existing path for a missing one; empty if none is close.

    A bare name may also be that of a scenario in a collection.
    """
    folders = [path.parent, *(COLLECTIONS if path == Path(path.name) else ())]
    found = [
        str(folder / name) for folder in folders if folder.is_dir() for name in suggest(path.name, _list_folder(folder))
    ]
    return ask_which(found[:3])


def _list_folder(folder: Path) -> list[str]:
    try:
        return [each.name for each in folder.iterdir() if not each.name.startswith(".")]
    except OSError:
        return []
