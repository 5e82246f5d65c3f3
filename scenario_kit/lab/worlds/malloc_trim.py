"""Memory that was freed, given back to the system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

_trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)


def give_back() -> bool:
    """Return free parts of the C library's heaps to the system; whether there were any.

    By itself it returns only what is free at a heap's end, and something small that lives on is often there. Takes some
    milliseconds. Where the C library has no such function (musl), nothing happens.
    """
    return _trim is not None and _trim(0) == 1
