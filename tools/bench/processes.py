"""CPU time and memory of a process."""

from __future__ import annotations

import os
from pathlib import Path

from scenario_kit.lab.host.procfs import read_resident_bytes


def read_resident_mb(pid: int) -> float:
    """Return the resident memory of a process, in MB."""
    return read_resident_bytes(pid) / 1e6


def read_cpu_seconds(pid: int) -> float:
    """Return the CPU seconds used by a process: fields 14 and 15 of proc_pid_stat(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
