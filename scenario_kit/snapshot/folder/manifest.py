"""``manifest.json``: source and settings of a snapshot, and checksums of all other files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from scenario_kit import __version__
from scenario_kit.model import Value
from scenario_kit.model.authored.contamination_canary import CANARY
from scenario_kit.model.kubernetes.timestamp import Timestamp

MANIFEST: Final = "manifest.json"
SCHEMA_VERSION: Final = 1
LAYOUT: Final = "itbench"
_CHUNK: Final = 1 << 20


class ListedFile(Value, frozen=True, kw_only=True):
    """A file of the folder; ``path`` is relative, with slashes."""

    path: str
    bytes: int
    sha256: str


class SnapshotTimes(Value, frozen=True, kw_only=True):
    """Snapshot times. ``injection`` is None without a fault."""

    start: Timestamp
    injection: Timestamp | None = None
    handover: Timestamp


class Manifest(Value, frozen=True, kw_only=True):
    """Description of a snapshot. It does not name the scenario, because solvers may read it.

    ``digests`` cover the app, its images, the alert rules and the truth; ``versions`` are those of the tools;
    ``settings`` list omitted and distorted telemetry.
    """

    schema_version: int = SCHEMA_VERSION
    layout: str = LAYOUT
    name: str
    kit: str = __version__
    app: str
    clock: str
    seed: int
    times: SnapshotTimes
    digests: Mapping[str, str] = {}
    versions: Mapping[str, str] = {}
    settings: Mapping[str, Any] = {}
    canary: str = CANARY
    files: tuple[ListedFile, ...] = ()


def list_files(folder: Path) -> tuple[ListedFile, ...]:
    """List the files of a folder with checksums, except the manifest."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / MANIFEST)
    return tuple(
        ListedFile(path=path.relative_to(folder).as_posix(), bytes=path.stat().st_size, sha256=compute_checksum(path))
        for path in paths
    )


def compute_checksum(path: Path) -> str:
    """Compute the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
