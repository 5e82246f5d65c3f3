"""Memory of a process: its own, and with the files that it maps."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from scenario_kit.lab.host import procfs

_BYTES = 32 * 2**20
_SLACK = 8 * 2**20


def test_pages_of_mapped_files_are_resident_but_not_its_own(tmp_path: Path) -> None:
    file = tmp_path / "block"
    file.write_bytes(b"x" * _BYTES)
    pid = os.getpid()
    resident, own = procfs.read_resident_bytes(pid), procfs.read_anonymous_bytes(pid)
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as block:
        assert sum(block[:: mmap.PAGESIZE]) > 0
        assert procfs.read_resident_bytes(pid) - resident > _BYTES - _SLACK
        assert procfs.read_anonymous_bytes(pid) - own < _SLACK


def test_process_without_entry_has_no_memory() -> None:
    assert procfs.read_resident_bytes(2**22 + 1) == 0
    assert procfs.read_anonymous_bytes(2**22 + 1) == 0
