"""Re-executes a Python script of ci/ in the project's environment; importing this module is enough.

Ctrl-C then ends the script with a word instead of a traceback, and with the exit code that shells expect.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from pathlib import Path
from types import TracebackType

_ENTERED = "SCENARIO_KIT_CI_ENTERED"


def _has_project() -> bool:
    try:
        importlib.metadata.version("scenario-kit")
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _report_interruption(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


if not _has_project() and not os.environ.get(_ENTERED):
    os.environ[_ENTERED] = "1"
    venv = Path(__file__).resolve().parent / "venv"
    os.execv(venv, [str(venv), "--dev", "python", *sys.argv])
os.environ.pop(_ENTERED, None)
sys.excepthook = _report_interruption
