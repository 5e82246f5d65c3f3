"""What was worked out once from files, kept on disk between processes.

An entry is named by the content of every file that it came from and by the code that made it, so it is never out of
date. It is read only from a folder and a file that nobody else could have written, and only if its checksum is right;
where that cannot be had, everything is worked out again. Entries are JSON: reading one runs no code.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

import scenario_kit

#: Names another folder; empty keeps nothing.
VARIABLE: Final = "SCENARIO_KIT_LINT_CACHE"
#: Entries and bytes beyond these are removed, oldest first.
MOST_ENTRIES: Final = 200
MOST_BYTES: Final = 64 * 1024 * 1024
#: One entry, and one file that an entry comes from, may not be larger.
MOST_OF_ONE: Final = 8 * 1024 * 1024
#: Parts of an answer that are being written; older than this their writer is gone.
_ABANDONED_SECONDS: Final = 3600
_SUM: Final = hashlib.sha256().digest_size


def cache_json(kind: str, files: Iterable[Path], more: Iterable[str], make: Callable[[], Any]) -> Any:
    """Cache as ``cache_bytes`` does, for plain JSON types."""
    return msgspec.json.decode(cache_bytes(kind, files, more, lambda: msgspec.json.encode(make())))


def cache_bytes(kind: str, files: Iterable[Path], more: Iterable[str], make: Callable[[], bytes]) -> bytes:
    """Return what ``make`` answers, or what it answered for the same content before.

    Args:
        kind: what it is; also part of the entry's name.
        files: everything that the answer depends on. Those that are not there count as not there.
        more: what else it depends on.
        make: works it out. Its errors are not kept.
    """
    folder = _find_folder()
    if folder is None:
        return make()
    files, more = sorted(files), tuple(more)
    key = _make_key(files, more)
    if key is None:
        return make()
    entry = folder / f"{kind}-{key}.json"
    with contextlib.suppress(OSError):
        if (found := _read_entry(entry)) is not None:
            return found
    result = make()
    if len(result) <= MOST_OF_ONE and _make_key(files, more) == key:  # or a file changed meanwhile
        with contextlib.suppress(OSError):
            _write(entry, result)
    return result


def _find_folder() -> Path | None:
    """Find the folder of the entries, made if it is not there; None where there is none that is ours alone."""
    named = os.environ.get(VARIABLE)
    if named == "":
        return None
    base = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base if named else base / "scenario-kit" / "lint"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_ours(folder.lstat(), stat.S_ISDIR) else None
    except (OSError, RuntimeError):  # the second: no home
        return None


def _is_ours(state: os.stat_result, kind: Callable[[int], bool]) -> bool:
    """Return whether nobody else could have written it, root apart. A link is never ours."""
    return kind(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_key(files: Iterable[Path], more: Iterable[str]) -> str | None:
    """Return None where a file is too large to be worth it."""
    sums = hashlib.sha256(_digest_code())
    for path in files:
        try:
            with path.open("rb") as file:
                content = file.read(MOST_OF_ONE + 1)
        except OSError:
            continue
        if len(content) > MOST_OF_ONE:
            return None
        sums.update(f"{path}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    for text in more:
        sums.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return sums.hexdigest()[:32]


@cache
def _digest_code() -> bytes:
    """Digest what makes the answers: our own code, by the times and sizes of its files, and its version."""
    root = Path(scenario_kit.__file__).parent
    sums = hashlib.sha256(scenario_kit.__version__.encode())
    for folder in ("catalog", "lab/twin", "load", "model", "model/twin", "render", "schema"):
        with os.scandir(root / folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.endswith((".py", ".yaml")):
                    state = entry.stat()
                    sums.update(f"{entry.name}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    return sums.digest()


def _read_entry(entry: Path) -> bytes | None:
    """Read what an entry holds; None where somebody else could have written it, or it is damaged."""
    handle = os.open(entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not _is_ours(os.fstat(handle), stat.S_ISREG):
            return None
        data = file.read(MOST_OF_ONE + _SUM + 1)
    return data[_SUM:] if hashlib.sha256(data[_SUM:]).digest() == data[:_SUM] else None


def _write(entry: Path, data: bytes) -> None:
    """Put an entry in place in one step, for its owner only, and make room."""
    handle, name = tempfile.mkstemp(dir=entry.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        Path(name).replace(entry)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    _trim(entry.parent)


def _trim(folder: Path) -> None:
    with os.scandir(folder) as entries:
        there = [(entry.stat(follow_symlinks=False), Path(entry.path)) for entry in entries]
    old = time.time() - _ABANDONED_SECONDS
    left, size = 0, 0
    for state, path in sorted(there, key=lambda each: each[0].st_mtime, reverse=True):
        if path.suffix == ".json":
            left, size = left + 1, size + state.st_size
            if left > MOST_ENTRIES or size > MOST_BYTES:
                path.unlink(missing_ok=True)
        elif path.name.startswith("tmp") and state.st_mtime < old:
            path.unlink(missing_ok=True)
