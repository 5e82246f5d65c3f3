"""A cache on disk for values computed from files.

An entry's name is a hash of the files' contents and of the code that computes it, so it is never stale. Entries are
read only from a folder and a file that no other user can write, and only if their checksum is right; otherwise the
value is computed again. Entries are JSON: reading them executes no code.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

import scenario_kit
from scenario_kit.load.folders import find_user_folder
from scenario_kit.model.base import encode_json

#: Environment variable with another folder; empty disables the cache.
VARIABLE: Final = "SCENARIO_KIT_LINT_CACHE"
#: Limits of the cache; the oldest entries are removed first.
MOST_ENTRIES: Final = 200
MOST_BYTES: Final = 64 * 1024 * 1024
#: Maximum size of an entry, and of a file it is computed from.
MOST_OF_ONE: Final = 8 * 1024 * 1024
#: Age after which a temporary file is assumed to be abandoned.
_ABANDONED_SECONDS: Final = 3600
_SUM: Final = hashlib.sha256().digest_size


def cache_json(kind: str, files: Iterable[Path], more: Iterable[str], make: Callable[[], Any]) -> Any:
    """Cache JSON values; see ``cache_bytes``."""
    return msgspec.json.decode(cache_bytes(kind, files, more, lambda: encode_json(make())))


def cache_bytes(kind: str, files: Iterable[Path], more: Iterable[str], make: Callable[[], bytes]) -> bytes:
    """Return the result of ``make``, or the cached one for the same content.

    Args:
        kind: part of the entry's name.
        files: all files that the result depends on; missing files count as missing.
        more: other inputs.
        make: computes the result. Its errors are not cached.
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
    if len(result) <= MOST_OF_ONE and _make_key(files, more) == key:  # unless a file has changed in the meantime
        with contextlib.suppress(OSError):
            _write(entry, result)
    return result


def _find_folder() -> Path | None:
    """Return the cache folder, creating it if needed; None if there is no private one."""
    named = os.environ.get(VARIABLE)
    if named == "":
        return None
    try:
        folder = Path(named) if named else find_user_folder("XDG_CACHE_HOME", ".cache") / "lint"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_ours(folder.lstat(), stat.S_ISDIR) else None
    except (OSError, RuntimeError):  # RuntimeError: no home directory
        return None


def _is_ours(state: os.stat_result, kind: Callable[[int], bool]) -> bool:
    """Return whether no other user except root can write the file. Symbolic links do not qualify."""
    return kind(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_key(files: Iterable[Path], more: Iterable[str]) -> str | None:
    """Return the entry's key; None if a file is too large."""
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
    """Digest the code that computes entries: times and sizes of its files, and the version."""
    root = Path(scenario_kit.__file__).parent
    sums = hashlib.sha256(scenario_kit.__version__.encode())
    for folder in ("catalog", "lab/twin", "load", "model", "render", "schema"):
        for state, path in sorted(_list_code(root / folder), key=lambda each: each[1]):
            sums.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    return sums.digest()


def _list_code(folder: Path) -> Iterator[tuple[os.stat_result, str]]:
    """Yield the state and path of each source file of a package, and of the packages in it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _list_code(Path(entry.path))
            elif entry.name.endswith((".py", ".yaml")):
                yield entry.stat(), entry.path


def _read_entry(entry: Path) -> bytes | None:
    """Return an entry's content; None if another user could have written it, or it is corrupt."""
    handle = os.open(entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not _is_ours(os.fstat(handle), stat.S_ISREG):
            return None
        data = file.read(MOST_OF_ONE + _SUM + 1)
    return data[_SUM:] if hashlib.sha256(data[_SUM:]).digest() == data[:_SUM] else None


def _write(entry: Path, data: bytes) -> None:
    """Write an entry atomically, readable by its owner only, and trim the cache."""
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
        existing = [(entry.stat(follow_symlinks=False), Path(entry.path)) for entry in entries]
    old = time.time() - _ABANDONED_SECONDS
    left, size = 0, 0
    for state, path in sorted(existing, key=lambda each: each[0].st_mtime, reverse=True):
        if path.suffix == ".json":
            left, size = left + 1, size + state.st_size
            if left > MOST_ENTRIES or size > MOST_BYTES:
                path.unlink(missing_ok=True)
        elif path.name.startswith("tmp") and state.st_mtime < old:
            path.unlink(missing_ok=True)
