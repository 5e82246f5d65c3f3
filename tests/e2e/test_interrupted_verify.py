"""An interrupted or killed `verify` resumes with the same command and leaves nothing."""

import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

from scenario_kit.catalog import find_data_root

SCENARIO = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero"
PLAN = """\
name: short
looks: [{repeats: 1, accept: 0, reject: 1}]
solutions: false
interventions: false
cheats: false
sham: false
leaks: false
parallel: 2
"""
HOW = (signal.SIGINT, signal.SIGKILL, signal.SIGHUP)


def trials(lab):
    found = lab.cluster.list("Trial", "scenario-kit", group="scenariokit.io")
    return {t["metadata"]["name"]: t["metadata"]["uid"] for t in found}


def test_three_interruptions_and_then_the_verdict(lab, tmp_path):
    seed = int(os.environ.get("SCENARIO_KIT_SEED") or datetime.now(UTC).strftime("%Y%m%d"))
    chance = random.Random(seed)
    before = leftovers(lab)  # of a test in the same lab
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    command = [
        sys.executable, "-m", "scenario_kit.cli", "verify", str(SCENARIO), "--plan", str(plan), "--name", lab.name
    ]  # fmt: skip
    known, reported = {}, []
    for how in HOW:
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        deadline = time.monotonic() + 60
        while not trials(lab) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(chance.uniform(0.0, 4.0))
        known |= trials(lab) if not known else {}
        process.send_signal(how)
        out, _ = process.communicate(timeout=60)
        reported.append(f"{how.name}: exit {process.returncode}, {len(trials(lab))} trials")
        if process.returncode == 0:
            break  # it was quicker than we are
        assert process.returncode in (130, -how), out
        if how == signal.SIGINT:
            assert "to continue: run the same command again" in out
        assert {n: uid for n, uid in trials(lab).items() if n in known} == known, "what began goes on"
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    print(f"seed {seed};", "; ".join(reported))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and (left := set(leftovers(lab)) - set(before)):
        time.sleep(0.5)
    assert left == set()


def leftovers(lab):
    """List what a campaign could leave: trials, their documents, app namespaces, chaos."""
    namespaces = [n["metadata"]["name"] for n in lab.cluster.list("Namespace")]
    kept = [o["metadata"] for kind in ("ConfigMap", "Secret") for o in lab.cluster.list(kind, "scenario-kit")]
    documents = [m["name"] for m in kept if "scenariokit.io/trial" in (m.get("labels") or {})]
    chaos = [o["metadata"]["name"] for o in lab.cluster.list("NetworkChaos", group="chaos-mesh.org")]
    return [*trials(lab), *documents, *(n for n in namespaces if n.startswith("otel-demo")), *chaos]
