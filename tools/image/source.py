"""The project's own files, version and revision in this checkout."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scenario_kit import __version__
from scenario_kit.errors import UsageError
from tools.image.layer import FileEntry
from tools.image.recipes import PACKAGES, KitSelection

VARIABLE: Final = "SOURCE_DATE_EPOCH"
_TOPS: Final = ("scenario_kit", "operators", "catalog", "templates")


@dataclass(frozen=True)
class SourceRevision:
    """The commit and its time in seconds since 1970; the revision ends with ``-modified`` if files differ."""

    revision: str
    epoch: int


def read_revision(root: Path) -> SourceRevision:
    """Read the revision of a checkout; ``SOURCE_DATE_EPOCH`` overrides the time.

    Raises:
        UsageError: the variable is not a number, or there is neither it nor a commit.
    """
    named = os.environ.get(VARIABLE, "")
    if named and not (named.isascii() and named.isdigit()):
        raise UsageError(f"{VARIABLE}: expected seconds since 1970, observed '{named}'")
    commit = _ask_git(root, "log", "-1", "--format=%H %ct").split()
    if not commit:
        if not named:
            raise UsageError(f"{root} is not a git checkout, so the image has no date", fix=f"set {VARIABLE}")
        return SourceRevision("", int(named))
    modified = "-modified" if _ask_git(root, "status", "--porcelain", "--", *_TOPS).strip() else ""
    return SourceRevision(commit[0] + modified, int(named or commit[1]))


def list_files(root: Path) -> list[str]:
    """List the project's own files: those not ignored by git or, without git, all except caches."""
    listed = _ask_git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *_TOPS)
    if listed:
        return sorted(name for name in set(listed.split("\0")) if name and (root / name).is_file())
    files = (path for top in _TOPS for path in (root / top).rglob("*") if path.is_file())
    return sorted(path.relative_to(root).as_posix() for path in files if "__pycache__" not in path.parts)


def select_files(root: Path, selection: KitSelection) -> list[FileEntry]:
    """Select the files of an image; the catalogue is placed within the package, as in a wheel."""
    entries = []
    for name in list_files(root):
        if not selection.keeps(name):
            continue
        data = name.startswith(("catalog/", "templates/"))
        path = f"{PACKAGES}/scenario_kit/_data/{name}" if data else f"{PACKAGES}/{name}"
        entries.append(FileEntry(path, 0o644, root / name))
    metadata = f"Metadata-Version: 2.1\nName: scenario-kit\nVersion: {__version__}\nLicense-Expression: Apache-2.0\n"
    entries.append(FileEntry(f"{PACKAGES}/scenario_kit-{__version__}.dist-info/METADATA", content=metadata.encode()))
    entries.append(FileEntry("usr/share/doc/scenario-kit/copyright", 0o644, root / "LICENSE"))
    return entries


def _ask_git(root: Path, *arguments: str) -> str:
    """Run git; returns an empty text if it fails."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""
