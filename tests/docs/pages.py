"""The documentation as data: its pages, and the console sessions in them."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Shown:
    """A command as a page shows it, and the lines of output below it."""

    command: str
    output: list[str] = field(default_factory=list)


def blocks(text, language):
    return [match[2] for match in _FENCE.finditer(text) if match[1] == language]


def session(text):
    """Every ``$ `` command of the console blocks of a text, in order; without the comments behind them."""
    shown = []
    for line in "".join(blocks(text, "console")).splitlines():
        if line.startswith("$ "):
            shown.append(Shown(re.sub(r"\s{2,}#.*$", "", line[2:])))
        elif line.strip():
            shown[-1].output.append(line.strip())
    return shown


def play(shown, folder, *, extra=""):
    """Run a command of a page in a shell, with this interpreter's programs; it prints what the page says it does."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", shown.command + extra],
        cwd=folder, capture_output=True, text=True, env=environment, timeout=300, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    fails = any(" error " in line for line in shown.output)
    assert done.returncode == (1 if fails else 0), f"{shown.command}: {said}"
    for line in shown.output:
        assert line in said, f"{shown.command} does not print {line!r}: {said}"
