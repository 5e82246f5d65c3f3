"""What was worked out once from files that have not changed since, kept on disk between processes.

The key of an entry holds size and time of every file that it came from, and this kit's version, so nothing is ever out
of date; where the folder cannot be written, everything is worked out again. Entries are JSON: reading one runs no code.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from scenario_kit import __version__

#: Names another folder; empty keeps nothing.
VARIABLE = "SCENARIO_KIT_LINT_CACHE"
#: Entries beyond this many are removed, oldest first.
_MOST = 200


def kept(kind: str, files: Iterable[Path], more: Iterable[str], make: Callable[[], Any]) -> Any:
    """What ``make`` answers, as plain JSON types, or what it answered for the same files before.

    Args:
        kind: what it is; also part of the entry's name.
        files: everything that the answer depends on.
        more: what else it depends on.
        make: works it out. Its errors are not kept.
    """
    folder = _folder()
    if folder is None:
        return make()
    entry = folder / f"{kind}-{_key(files, more)}.json"
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(entry.read_bytes())
    result = make()
    with contextlib.suppress(OSError, TypeError, msgspec.EncodeError):
        _write(entry, msgspec.json.encode(result))
    return result


def _folder() -> Path | None:
    named = os.environ.get(VARIABLE)
    if named == "":
        return None
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "scenario-kit" / "lint"


def _key(files: Iterable[Path], more: Iterable[str]) -> str:
    sums = hashlib.sha256(__version__.encode())
    for path in sorted(files):
        try:
            state = path.stat()
        except OSError:
            continue
        sums.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    for text in more:
        sums.update(text.encode() + b"\0")
    return sums.hexdigest()[:32]


def _write(entry: Path, data: bytes) -> None:
    entry.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=entry.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    Path(name).replace(entry)
    there = sorted(entry.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for path in there[: max(0, len(there) - _MOST)]:
        path.unlink(missing_ok=True)
