"""Writes of files: atomic ones, and those of secrets."""

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


def write_private(path: Path, data: bytes) -> None:
    """Write a file that is readable by its owner only from the start; not atomically."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
