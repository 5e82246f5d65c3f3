"""Free memory goes back to the system also where something small lives on behind it."""

from __future__ import annotations

import os

from scenario_kit.lab.host import procfs
from scenario_kit.lab.worlds.malloc_trim import trim_heap


def test_trim_heap_returns_freed_memory() -> None:
    pieces = [bytearray(b"x" * 4000) for _ in range(10_000)]
    last = pieces[-1]
    del pieces
    before = procfs.read_resident_bytes(os.getpid())
    assert trim_heap()
    assert before - procfs.read_resident_bytes(os.getpid()) > 20_000_000
    assert len(last) == 4000
