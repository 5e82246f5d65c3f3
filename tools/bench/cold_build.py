"""Build of the toolchain with empty caches."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.bench.commands import INSTALLED, ROOT


def measure_cold_build() -> list[tuple[str, str]]:
    """Build the toolchain with empty build caches; downloaded sources are kept, so the network is not measured.

    CPU seconds are those of child processes only, so other load on the machine matters little.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        compiled, binaries = Path(folder) / "compiled", Path(folder) / "cache"
        environment = INSTALLED | {"GOCACHE": str(compiled), "SCENARIO_KIT_CACHE": str(binaries)}
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        rows = []
        for what, engine in (("the demo's parts", False), ("with the chaos engine", True)):
            code = f"from scenario_kit.lab.toolchain import install; install(engine={engine})"  # without promtool
            subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, env=environment)
            took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            rows += [(f"{what}, CPU", f"{cpu:.0f} s"), (f"{what}, wall", f"{took:.0f} s")]
        return [
            *rows,
            ("largest process", f"{after.ru_maxrss / 1e6:.1f} GB"),
            ("compiled packages and binaries", f"{measure_size_gb(compiled) + measure_size_gb(binaries):.1f} GB"),
        ]


def measure_size_gb(folder: Path) -> float:
    """Return the size of a folder, in GB."""
    return sum(path.lstat().st_size for path in folder.rglob("*")) / 1e9
