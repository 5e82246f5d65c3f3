"""Return freed heap memory to the operating system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

_trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)


def trim_heap() -> bool:
    """Return free pages of the C library's heaps to the system; True if any were returned.

    By itself, glibc returns only memory at the end of a heap, which a small live allocation often blocks. A call takes
    some milliseconds. A C library without ``malloc_trim`` (musl): no effect.
    """
    return _trim is not None and _trim(0) == 1
