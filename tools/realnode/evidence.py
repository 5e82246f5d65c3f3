"""Evidence from the real node: ``verify`` by the plan standard, several scenarios at once, and its record."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tools.realnode.node.cluster import CONTEXT

#: The most trials of one scenario at a time that ``verify`` accepts: all of a plan without a failure.
_PARALLEL: Final = 8


def record_evidence(files: Sequence[Path], results: Path, together: int, say: Callable[[str], None]) -> bool:
    """Verify scenarios on the node, record evidence of those that pass, and return whether all of them did.

    Output and reports of each scenario go to ``results/evidence/``. ``together`` is the number of trials at a time.
    """
    results.mkdir(parents=True, exist_ok=True)
    parallel = min(_PARALLEL, together)

    def verify_and_record(file: Path) -> bool:
        name = file.parent.name
        with (results / f"{name}.log").open("wb") as log:
            for arguments in list_commands(file, results, parallel):
                say(f"{name}: scenario-kit {arguments[0]} …")
                command = [sys.executable, "-m", "scenario_kit.cli", *arguments]
                done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False)
                if done.returncode:
                    say(f"{name}: scenario-kit {arguments[0]} ended with {done.returncode}; see {log.name}")
                    return False
        say(f"{name}: recorded {file.with_name('evidence.json')}")
        return True

    with ThreadPoolExecutor(max_workers=max(1, together // parallel)) as pool:
        return all(list(pool.map(verify_and_record, files)))


def list_commands(file: Path, results: Path, parallel: int) -> tuple[list[str], list[str]]:
    """List the arguments of the two commands for a scenario: its validation, and the record of it."""
    verify = list_verify_arguments(file, "standard", results, "--parallel", str(parallel))
    return verify, ["report", str(results / file.parent.name), "--record"]


def list_verify_arguments(file: Path, plan: str, runs: Path, *options: str) -> list[str]:
    """List the arguments of ``verify`` for a scenario on the node, with reports below ``runs``."""
    where = ["--cluster", "current", "--context", CONTEXT, *options, "--runs", str(runs)]
    return ["verify", str(file), "--plan", plan, *where]
