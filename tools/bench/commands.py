"""Commands of the kit, as an installed kit runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "catalog/scenarios/product-catalog-wrong-target-port"
KIT = [sys.executable, "-m", "scenario_kit.cli"]
#: As when installed: byte code is written, to a temporary folder, since the environment may disable it.
BYTE_CODE = tempfile.TemporaryDirectory()
INSTALLED = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {
    "PYTHONPYCACHEPREFIX": BYTE_CODE.name
}


def time_command(*arguments: str) -> float:
    """Return the wall-clock seconds of one `scenario-kit` command, including process start."""
    start = time.perf_counter()
    subprocess.run([*KIT, *arguments], cwd=ROOT, check=True, capture_output=True, env=INSTALLED)
    return time.perf_counter() - start


def await_condition(holds: Callable[[], bool], seconds: float = 600.0) -> None:
    """Poll a condition four times a second until it holds.

    Raises:
        TimeoutError: it does not hold within ``seconds``.
    """
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:.0f} s")
        time.sleep(0.25)
