"""Locks between processes, released on exit."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hold_lock(path: Path, because: str, say: Callable[[str], None], *, shared: bool = False) -> Iterator[None]:
    """Hold a file lock in an existing folder; ``shared`` allows other shared holders.

    If another process holds it, ``say`` is called once with the reason, and this waits.
    """
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with path.open("w") as file:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{because}; waiting")
            fcntl.flock(file, how)
        yield
