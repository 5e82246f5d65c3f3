"""Tests of optional components of the toolchain: install them, then run the tests of a folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scenario_kit.errors import ScenarioKitError

ROOT: Final = Path(__file__).resolve().parents[1]


def run_component_tests(usage: str, folder: str, install: Callable[[], object]) -> int:
    """Run the tests of ``folder`` after an installation; return the exit code, 2 if it is not possible.

    Arguments of the program go to pytest; ``--help`` alone prints ``usage``.
    """
    if sys.argv[1:] == ["--help"]:
        print(usage)
        return 0
    try:
        install()
    except ScenarioKitError as error:
        print(error, file=sys.stderr)
        return 2
    command = [sys.executable, "-m", "pytest", "-q", folder, *sys.argv[1:]]
    return subprocess.run(command, cwd=ROOT, check=False).returncode
