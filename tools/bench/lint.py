"""Time that linting takes."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from tools.bench.commands import INSTALLED, KIT, ROOT
from tools.bench.drafts import generate_drafts


def time_lint(count: int) -> float:
    """Return the seconds needed to lint that many generated scenarios."""
    with tempfile.TemporaryDirectory() as folder:
        made = 0
        for name, text in generate_drafts(count):
            path = Path(folder) / name
            path.mkdir()
            (path / "scenario.yaml").write_text(text)
            made += 1
        start = time.perf_counter()
        run = subprocess.run(
            [*KIT, "lint", folder], cwd=ROOT, capture_output=True, text=True, check=False, env=INSTALLED
        )
        took = time.perf_counter() - start
        print(f"  {made} made; {(run.stdout.splitlines() or ['no answer'])[-1]}", flush=True)
        return took
