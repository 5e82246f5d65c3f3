"""``ci/kind`` where no container engine answers, and the workflow that calls it."""

import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_missing_engine_is_reported_before_build(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "ci" / "kind")], env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "needs a container engine" in done.stderr
    assert "fix: " in done.stderr


def test_kind_workflow_runs_ci_programs_only():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "kind.yml").read_text())
    steps = workflow["jobs"]["kind"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == ["ci/kind"]
    others = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]["tests"]["steps"]
    assert {step["uses"] for step in steps if "uses" in step} <= {step["uses"] for step in others if "uses" in step}
