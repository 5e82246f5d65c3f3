"""The operator may die at any moment: the outcome is the same, and the cluster is clean (docs/architecture.md)."""

import os
import random
import signal
import subprocess
import sys
import time

from scenario_kit.catalog import find_data_root

SCENARIO = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port"
KILLS = 10


def test_ten_kills_at_random_moments(lab, tmp_path):
    chance = random.Random(20261121)
    command = [sys.executable, "-m", "scenario_kit.cli", "try", str(SCENARIO), "--name", lab.name, "--keep"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    reached = []
    for _ in range(KILLS):
        # Long enough to get somewhere between two deaths: starting takes the operator two seconds.
        time.sleep(chance.uniform(1.5, 5.0))
        if process.poll() is not None:
            break
        trials = lab.cluster.list("Trial", "scenario-kit", group="scenariokit.io")
        steps = [s["step"] for t in trials for s in (t.get("status") or {}).get("steps") or []]
        reached.append(steps[-1] if steps else "created")
        os.kill(lab.state.part("operator").pid, signal.SIGKILL)
        lab.heal()
    out, _ = process.communicate(timeout=400)
    print("killed at:", ", ".join(reached))
    assert process.returncode == 0, out
    assert "PASS" in out
    trial = lab.cluster.list("Trial", "scenario-kit", group="scenariokit.io")[0]
    conditions = {c["type"]: c["status"] for c in trial["status"]["conditions"]}
    assert conditions["Clean"] == "True"
    assert trial["status"]["outcome"] == "Held"
    from scenario_kit.model import Reference

    lab.cluster.delete(Reference("Trial", trial["metadata"]["name"], "scenario-kit", "scenariokit.io"))
