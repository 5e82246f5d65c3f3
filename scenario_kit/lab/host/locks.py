"""Locks between processes. Whoever dies lets go of what it held."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hold_lock(path: Path, because: str, say: Callable[[str], None], *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a file, in a folder that is there; ``shared`` with others that hold it so.

    Where another process stands in the way, ``say`` is told why, once, and this waits.
    """
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with path.open("w") as file:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{because}; waiting for it")
            fcntl.flock(file, how)
        yield
