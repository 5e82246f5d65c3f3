"""Ctrl-C ends a script of ci/ with a word; other errors keep their traceback."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("statement", "code", "said"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT, "interrupted\n"),
        ("raise ValueError(1)", 1, "Traceback"),
    ],
)
def test_interrupted_scripts_say_so(statement, code, said):
    program = (
        f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import ci.environment; {statement}"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr.startswith(said)
