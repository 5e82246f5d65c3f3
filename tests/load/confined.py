"""Lints paths that may be hostile, each in a process of its own with bounds, and tells how each ended.

Run as a program: paths as JSON on standard input, results as JSON on standard output. Forks of one small process are
quicker than one interpreter per path, and their peak memory is theirs alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scenario_kit.cli import run

#: Seconds of processor time; beyond them a process is ended. Wall time only ends what waits for ever.
CPU_SECONDS = 5
WALL_SECONDS = 60
#: Address space. Peak resident memory is measured; this only ends what would take the machine down.
ADDRESS_SPACE = 2 << 30


def run_confined(arguments: Sequence[str]) -> dict[str, Any]:
    """Exit code (negative: the signal that ended it), processor seconds, peak MB and output of one command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _become(arguments, out.fileno(), err.fileno())
        _, status, usage = os.wait4(child, 0)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "backslashreplace"))
    return {
        "code": os.waitstatus_to_exitcode(status),
        "seconds": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss / 1024,
        "out": texts[0],
        "err": texts[1],
    }


def _become(arguments: Sequence[str], out: int, err: int) -> None:
    code = 99
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(WALL_SECONDS)
        _obey_permissions()
        code = run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _obey_permissions() -> None:
    """Files that are closed are closed to root as well: without its capabilities to read everything."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, twice
    if libc.capget(header, sets) or not sets[0]:
        return
    sets[0] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    if libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")


def _import_commands() -> None:
    """Import the commands' modules before forking."""
    with tempfile.NamedTemporaryFile(suffix=".yaml") as file, contextlib.redirect_stdout(io.StringIO()):
        Path(file.name).write_text("kind: Scenario\nspek: 1\n")
        run(["lint", file.name])


if __name__ == "__main__":
    _import_commands()
    json.dump([run_confined([*arguments]) for arguments in json.loads(Path("/dev/stdin").read_text())], sys.stdout)
