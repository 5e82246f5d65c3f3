"""Whether a lab finds room to write: free space, free inodes, and a folder that takes files at all.

Programs of others say of a full disk whatever they like, in pages of JSON; here it is said in one sentence.
"""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import Final

from scenario_kit.errors import LabError

_MEBIBYTE: Final = 1 << 20
#: What a lab writes until its first trial, with room for some more (a new one has 60 MiB, one in use 150).
TO_START: Final = 512 * _MEBIBYTE
#: Below this a part that still runs is about to fail.
TO_GO_ON: Final = 32 * _MEBIBYTE
_INODES_TO_START: Final = 5_000
_INODES_TO_GO_ON: Final = 200
_SPENT: Final = (errno.ENOSPC, errno.EDQUOT)
#: What helps.
FIX: Final = "free space there, or set SCENARIO_KIT_HOME to a folder on another disk"


def find_problem(folder: Path, desired: int = TO_GO_ON) -> str:
    """Find what is wrong with the place of a folder, in one sentence; empty where nothing is."""
    place = next(each for each in (folder, *folder.parents) if each.exists())
    try:
        found = os.statvfs(place)
    except OSError as error:
        return f"{place} cannot be looked at: {error.strerror}"
    free = found.f_bavail * found.f_frsize
    if free < desired:
        needed = "a lab needs" if desired == TO_START else "a running lab needs"
        return f"the disk of {place} is full: {free // _MEBIBYTE} MiB free, {needed} {desired // _MEBIBYTE} MiB"
    inodes = _INODES_TO_START if desired == TO_START else _INODES_TO_GO_ON
    if found.f_files and found.f_favail < inodes:
        return f"the disk of {place} has no room for more files: {found.f_favail} inodes free, needed {inodes}"
    return _find_refusal(place)


def require(folder: Path) -> None:
    """Make sure that a lab can be started there.

    Raises:
        LabError: there is no room, or nothing can be written.
    """
    if found := find_problem(folder, TO_START):
        raise LabError(found, fix=FIX)


def explain_error(error: BaseException, folder: Path) -> LabError | None:
    """Explain the error in terms of the disk, if that is why something failed; None where the disk is well."""
    found = find_problem(folder)
    if not found and isinstance(error, OSError) and error.errno in _SPENT:
        found = f"the disk of {error.filename or folder} is full"
    return LabError(found, fix=FIX) if found else None


def _find_refusal(place: Path) -> str:
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"\0")
    except OSError as error:
        return f"nothing can be written in {place}: {error.strerror}"
    return ""
