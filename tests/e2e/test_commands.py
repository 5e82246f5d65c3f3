"""Faults inside stores: commands as Jobs, with the operator killed while one is under way (docs/architecture.md)."""

import os
import signal
import subprocess
import sys
import time

import pytest

COMMAND = [sys.executable, "-m", "scenario_kit.cli"]


def draft(folder, name, fault, target):
    command = [*COMMAND, "new", name, "--app", "otel-demo", "--fault", fault, "--target", target]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=120)
    return folder / name


def jobs(cluster):
    return [o for o in cluster.list("Job", group="batch") if o["metadata"]["name"].startswith("task-")]


def test_operator_killed_during_command_and_undo_resumes(lab, tmp_path):
    scenario = draft(tmp_path, "store-password", "valkey-password-changed", "valkey-cart")
    command = [*COMMAND, "try", str(scenario), "--name", lab.name, "--accept"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seen: set[str] = set()
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline:
        fresh = {o["metadata"]["name"] for o in jobs(lab.cluster)} - seen
        if fresh and len(seen) < 3:
            os.kill(lab.state.part("operator").pid, signal.SIGKILL)
            lab.heal()
        seen |= fresh
    out, _ = process.communicate(timeout=200)
    assert process.returncode == 0, out
    assert "PASS" in out
    assert len(seen) >= 2, "the command of the fault, and what takes it back"
    assert jobs(lab.cluster) == []


@pytest.mark.parametrize(
    ("fault", "target"),
    [("postgres-privilege-revoked", "postgresql"), ("postgres-table-locked", "postgresql")],
)
def test_fault_inside_a_store_holds_and_is_repaired(kit, lab, tmp_path, fault, target):
    done = kit("try", str(draft(tmp_path, "store", fault, target)), "--name", lab.name, "--accept")
    assert done.code == 0, done.out
    assert "PASS" in done.out
