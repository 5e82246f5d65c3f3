"""Disk checks for a lab: free space, free inodes, write access.

Other programs report a full disk in many ways, in pages of JSON; this gives one sentence.
"""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import Final

from scenario_kit.errors import LabError

_MEBIBYTE: Final = 1 << 20
#: Space that a lab writes before its first trial, plus some for trials (a new one has 60 MiB, one in use 150).
TO_START: Final = 512 * _MEBIBYTE
#: Below this, a running component is about to fail.
TO_GO_ON: Final = 32 * _MEBIBYTE
_INODES_TO_START: Final = 5_000
_INODES_TO_GO_ON: Final = 200
_SPENT: Final = (errno.ENOSPC, errno.EDQUOT)
#: What helps.
FIX: Final = "free space there, or set SCENARIO_KIT_HOME to a folder on another disk"


def find_problem(folder: Path, desired: int = TO_GO_ON) -> str:
    """Return the problem with a folder's disk in one sentence; empty if there is none."""
    place = next(each for each in (folder, *folder.parents) if each.exists())
    try:
        found = os.statvfs(place)
    except OSError as error:
        return f"{place} cannot be accessed: {error.strerror}"
    free = found.f_bavail * found.f_frsize
    if free < desired:
        needed = "a lab needs" if desired == TO_START else "a running lab needs"
        return f"the disk of {place} is full: {free // _MEBIBYTE} MiB free, {needed} {desired // _MEBIBYTE} MiB"
    inodes = _INODES_TO_START if desired == TO_START else _INODES_TO_GO_ON
    if found.f_files and found.f_favail < inodes:
        return f"the disk of {place} has no room for more files: {found.f_favail} inodes free, needed {inodes}"
    return _find_refusal(place)


def require(folder: Path) -> None:
    """Require that a lab can start there.

    Raises:
        LabError: the disk is full or not writable.
    """
    if found := find_problem(folder, TO_START):
        raise LabError(found, fix=FIX)


def explain_error(error: BaseException, folder: Path) -> LabError | None:
    """Return the disk problem behind an error; None if the disk is fine."""
    found = find_problem(folder)
    if not found and isinstance(error, OSError) and error.errno in _SPENT:
        found = f"the disk of {error.filename or folder} is full"
    return LabError(found, fix=FIX) if found else None


def _find_refusal(place: Path) -> str:
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"\0")
    except OSError as error:
        return f"cannot write in {place}: {error.strerror}"
    return ""
