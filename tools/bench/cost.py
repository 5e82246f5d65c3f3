"""Cost of validating many scenarios."""

from __future__ import annotations

import gzip
import json
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from scenario_kit.lab.host.state import LabState
from tools.bench.commands import INSTALLED, KIT, ROOT
from tools.bench.processes import read_cpu_seconds


def measure_cost(name: str, count: int) -> list[tuple[str, str]]:
    """Measure wall and CPU time of scenarios from all over the catalogue, and extrapolate to 1,000 with 17 repeats.

    CPU time is that of the lab's processes and of the command; `verify --plan standard` runs five repeats and the rest.
    """

    every = sorted(path.parent for path in (ROOT / "catalog" / "scenarios").glob("*/scenario.yaml"))
    chosen = every[:: max(1, len(every) // count)][:count]
    parts = [part.pid for part in LabState.load(name).parts]

    def spend() -> float:
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        return sum(map(read_cpu_seconds, parts)) + own.ru_utime + own.ru_stime

    with tempfile.TemporaryDirectory() as runs:
        before, began = spend(), time.perf_counter()
        command = ["verify", *map(str, chosen), "--plan", "standard", "--name", name, "--runs", runs]
        subprocess.run([*KIT, *command], cwd=ROOT, check=False, capture_output=True, env=INSTALLED)
        wall, cpu = time.perf_counter() - began, spend() - before
        reports = list(Path(runs).glob("*/*/report.json"))
        trials = sum(len(json.loads(report.read_bytes())["validation"].get("trials", ())) for report in reports)
        packed = [len(gzip.compress(report.read_bytes())) / 1e3 for report in reports]
    if not trials:
        raise SystemExit(f"no trial ended: try one by hand: scenario-kit verify {chosen[0]} --name {name}")
    each = trials / len(chosen) + 12  # 17 repeats instead of five
    lab_hours = 1000 * each * wall / trials / 3600
    return [
        ("scenarios, trials", f"{len(reports)}, {trials}"),
        ("wall time of a scenario, plan standard", f"{wall / len(chosen):.0f} s"),
        ("CPU time of a scenario, plan standard", f"{cpu / len(chosen):.0f} s"),
        ("wall time of a trial, two at a time", f"{wall / trials:.1f} s"),
        ("CPU time of a trial", f"{cpu / trials:.1f} s"),
        ("report, compressed, median", f"{statistics.median(packed):.0f} kB"),
        ("1,000 scenarios with 17 repeats, one lab", f"{lab_hours:.0f} h"),
        ("CPU for that", f"{1000 * each * cpu / trials / 3600:.0f} h"),
    ]
