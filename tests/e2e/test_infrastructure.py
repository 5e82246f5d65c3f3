"""A broken lab is not an authoring error: exit 2, never 1, and the lab can be repaired."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenario_kit.catalog import find_data_root

SCENARIOS = find_data_root() / "catalog" / "scenarios"


def start(lab, scenario, folder: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "scenario_kit.cli", "try", str(SCENARIOS / scenario), "--name", lab.name]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for_step(lab, scenario: str, step: str) -> None:
    """Until a trial of the scenario has finished the step of that kind."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for trial in lab.cluster.list("Trial", "scenario-kit", group="scenariokit.io"):
            # By name: another test's trials may be about the same scenario, and on their way out.
            if not trial["metadata"]["name"].startswith(f"{scenario[:36].rstrip('-')}-repeat"):
                continue
            if trial["metadata"].get("deletionTimestamp"):
                continue
            steps = (trial.get("status") or {}).get("steps") or []
            if any(s["step"].startswith(step) and s["outcome"] == "Held" for s in steps):
                return
        time.sleep(0.1)
    pytest.fail(f"no trial of {scenario} reached {step}")


def kill(lab, part: str) -> None:
    os.kill(lab.state.part(part).pid, signal.SIGKILL)


def test_prometheus_killed_in_the_middle(lab, tmp_path):
    process = start(lab, "product-catalog-wrong-target-port", tmp_path)
    wait_for_step(lab, "product-catalog-wrong-target-port", "expectQuiet")
    kill(lab, "prometheus")
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 2, out
    assert "NOT EVALUATED" in out
    assert "prometheus" in out.lower()


def test_chaos_manager_stopped_before_injection(lab, tmp_path):
    process = start(lab, "payment-pod-failure", tmp_path)
    wait_for_step(lab, "payment-pod-failure", "deploy")
    kill(lab, "chaos-controller-manager")
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 2, out
    assert "NOT EVALUATED" in out


def test_repaired_lab_removes_leftovers(lab):
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        trials = lab.cluster.list("Trial", "scenario-kit", group="scenariokit.io")
        namespaces = [n["metadata"]["name"] for n in lab.cluster.list("Namespace")]
        if not trials and not [n for n in namespaces if n.startswith("otel-demo")]:
            return
        time.sleep(1)
    pytest.fail(f"left: {[t['metadata']['name'] for t in trials]}, {namespaces}")
