"""Atomic writes of files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file atomically, keeping its mode; readers and crashes see the former content or the new one.

    Raises:
        OSError: it cannot be written; the former content stays.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
