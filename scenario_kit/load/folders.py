"""Files below a folder that may be as odd as it likes: deep, vast, with loops of links, closed in parts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

#: Decides by the path of a folder and the name of an entry in it.
Desired = Callable[[str, str], bool]


def list_below(folder: Path, desired: Desired, closed: str) -> list[Path]:
    """List everything below a folder that is wanted by its name, sorted; whether it is a file is for the reader to see.

    Links to folders are not followed, so loops of them have no effect. For a folder that cannot be opened stands the
    path that ``closed`` would have in it: reading that fails and tells why, so nothing is passed over in silence.
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
            found.append(os.path.join(current, closed))  # noqa: PTH118 - paths are plain text here: there may be many
    return [Path(path) for path in sorted(found)]
