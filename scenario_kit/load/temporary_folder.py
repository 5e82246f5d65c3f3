"""Folders of a process, which go with it: a process that was killed leaves one, and the next start removes it.

Each folder is locked as long as its process lives; the kernel releases the lock, however the process ends. A process ID
would not do: in a container every process has the same.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class TemporaryFolder:
    """A new folder, ``path``, for the current process. ``remove`` may be called more than once."""

    def __init__(self, prefix: str) -> None:
        remove_abandoned_folders(prefix)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix))
            self._handle = os.open(self.path, os.O_RDONLY)
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            if self.path.exists():  # another process could take it for abandoned before it was locked
                return
            os.close(self._handle)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def remove_abandoned_folders(prefix: str) -> list[Path]:
    """Remove the folders of our own whose process has ended without removing them.

    Returns:
        Those that were removed.
    """
    removed = []
    for path in sorted(Path(tempfile.gettempdir()).glob(f"{prefix}*")):
        with _hold_abandoned(path) as abandoned:
            if abandoned:
                shutil.rmtree(path, ignore_errors=True)
                removed.append(path)
    return removed


@contextmanager
def _hold_abandoned(path: Path) -> Iterator[bool]:
    """Hold the lock of a folder; yields False if another process holds it or the folder is not ours."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        free = os.fstat(handle).st_uid == os.getuid()
        if free:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield True
                return
        yield False
    finally:
        os.close(handle)
