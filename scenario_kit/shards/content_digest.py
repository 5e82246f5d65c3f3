"""Digests of the files that a validation reads: the parts of a catalogue root, and a scenario.

Equal digests mean equal bytes, so a machine with another checkout or image is detected before it validates anything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from scenario_kit.errors import UsageError
from scenario_kit.load.folders import list_below

#: Folders of a root that belong to the catalogue (``catalog.index``).
FOLDERS: Final = ("catalog", "templates")
_SCENARIOS: Final = ("catalog", "scenarios")


def digest_value(value: Any) -> str:
    """Return the SHA-256 of a value of plain JSON types, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def list_root_files(root: Path) -> list[Path]:
    """List the files of a root, sorted, without hidden ones."""
    return [path for folder in FOLDERS if (root / folder).is_dir() for path in _list_files(root / folder)]


def digest_root(root: Path) -> dict[str, str]:
    """Return the digest of each part of a root: ``catalog/apps``, ``catalog/faults``, ``templates/apps`` and so on.

    Scenarios are left out, since each has its own digest.

    Raises:
        UsageError: a file cannot be read.
    """
    parts: dict[str, dict[str, str]] = {}
    for path in list_root_files(root):
        place = path.relative_to(root).parts
        if place[:2] != _SCENARIOS or len(place) == 3:
            part = "/".join(place[:2])
            parts.setdefault(part, {})["/".join(place)] = digest_bytes(read_file(path))
    return {part: digest_value(files) for part, files in sorted(parts.items())}


def list_scenario_files(file: Path) -> list[Path]:
    """List the files of a scenario: the scenario itself and its local fault types."""
    beside = file.parent / "faults"
    return [file, *(_list_files(beside) if beside.is_dir() else ())]


def digest_scenario(file: Path) -> str:
    """Return the digest of a scenario's files.

    Raises:
        UsageError: a file cannot be read.
    """
    paths = list_scenario_files(file)
    return digest_value({p.relative_to(file.parent).as_posix(): digest_bytes(read_file(p)) for p in paths})


def name_differing_parts(expected: Mapping[str, str], observed: Mapping[str, str]) -> list[str]:
    """Name the parts of two roots that differ."""
    return sorted(part for part in {*expected, *observed} if expected.get(part) != observed.get(part))


def read_file(path: Path) -> bytes:
    """Read a file.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", fix="make it readable, or remove it") from error


def _list_files(folder: Path) -> Iterator[Path]:
    for path in list_below(folder, lambda _, name: not name.startswith("."), "unreadable"):
        inside = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inside)
        if not hidden and not path.is_dir():
            yield path
