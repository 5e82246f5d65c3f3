"""A Validation that is applied: the operator runs the campaign, is killed on the way, and the verdict is there."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import find_data_root
from scenario_kit.lab import toolchain
from scenario_kit.model import Reference
from scenario_kit.report import Report

SCENARIO = "cart-scaled-to-zero"
FILE = find_data_root() / "catalog" / "scenarios" / SCENARIO / "scenario.yaml"
HERE, GROUP = "scenario-kit", "scenariokit.io"
#: One repeat and the no-fault control: enough to be killed in.
SHORT = {
    "name": "short", "looks": [{"repeats": 1, "accept": 0, "reject": 1}], "solutions": False, "interventions": False,
    "cheats": False, "sham": False, "leaks": False, "parallel": 2,
}  # fmt: skip


def kubectl(lab, *arguments, stdin=""):
    command = [str(toolchain.resolve("kubectl")), "--kubeconfig", lab.state.kubeconfig, *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def validation(name):
    metadata = {"name": name, "namespace": HERE}
    spec = {"scenario": SCENARIO, "custom": SHORT}
    return yaml.safe_dump({"apiVersion": f"{GROUP}/v1alpha1", "kind": "Validation", "metadata": metadata, "spec": spec})


def eventually(what, within, message):
    deadline = time.monotonic() + within
    while not (value := what()):
        if time.monotonic() > deadline:
            pytest.fail(f"{message} within {within} s")
        time.sleep(0.3)
    return value


def status(lab, name):
    return (lab.cluster.get(Reference("Validation", name, HERE, GROUP)) or {}).get("status") or {}


def trials(lab, name):
    return lab.cluster.list("Trial", HERE, group=GROUP, labels={"scenariokit.io/validation": name})


def has_reached_step(lab, name, step):
    found = [s for t in trials(lab, name) for s in (t.get("status") or {}).get("steps") or []]
    return any(s["step"].startswith(step) for s in found)


@pytest.fixture
def stored(lab):
    """The scenario, stored and suspended, as a catalogue in a cluster would have it."""
    document = FILE.read_text().replace("\nspec:\n", "\nspec:\n  suspend: true\n", 1)
    kubectl(lab, "apply", "-n", HERE, "-f", "-", stdin=document)
    yield SCENARIO
    kubectl(lab, "delete", "-n", HERE, "--ignore-not-found", "scenario", SCENARIO)


def test_applied_killed_and_read(lab, stored, kit, tmp_path):
    kubectl(lab, "apply", "-f", "-", stdin=validation("short"))
    eventually(lambda: has_reached_step(lab, "short", "expectQuiet"), 120, "no trial came to expectQuiet")
    uids = {t["metadata"]["name"]: t["metadata"]["uid"] for t in trials(lab, "short")}
    os.kill(lab.state.part("operator").pid, signal.SIGKILL)
    lab.heal()
    now = {t["metadata"]["name"]: t["metadata"]["uid"] for t in trials(lab, "short")}
    assert {n: now.get(n) for n in uids} == uids, "what had begun goes on"
    kubectl(lab, "wait", "-n", HERE, "validation/short", "--for=condition=Ready", "--timeout=240s")
    shown = status(lab, "short")
    assert (shown["verdict"], shown["held"], shown["planned"]) == ("Pass", 2, 2), shown
    document = json.loads(kubectl(lab, "get", "configmap", "-n", HERE, shown["report"], "-o", "json"))
    file = tmp_path / "report.json"
    file.write_text(document["data"]["report.json"])
    assert Report.from_json(json.loads(file.read_text())).validation.n == 1
    assert "PASS" in kit("report", str(file)).out
    assert "Pass" in kubectl(lab, "get", "-n", HERE, "validations")
    eventually(lambda: not trials(lab, "short"), 60, "trials stay after the verdict")
    kubectl(lab, "delete", "-n", HERE, "validation", "short", "--timeout=60s")
    assert lab.cluster.get(Reference("ConfigMap", shown["report"], HERE)) is None


def test_verify_in_a_named_cluster_is_interrupted_and_taken_up(lab, tmp_path):
    """The operator's catalogue does not have the fault type beside the scenario: it travels inside the Validation."""
    folder = find_data_root() / "catalog" / "scenarios" / "hotel-all-errors"
    context = subprocess.run(
        [str(toolchain.resolve("kubectl")), "--kubeconfig", lab.state.kubeconfig, "config", "current-context"],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout.strip()  # fmt: skip
    command = [sys.executable, "-m", "scenario_kit.cli", "verify", str(folder), "--plan", "try", "--format", "json"]
    command += ["--cluster", "current", "--context", context, "--timeout", "20"]
    environment = os.environ | {"KUBECONFIG": lab.state.kubeconfig}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": tmp_path, "env": environment}
    # Whoever runs the tests in the background ignores SIGINT, and so would this program.
    obey = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, **pipes, preexec_fn=obey) as first:
        eventually(lambda: lab.cluster.list("Trial", HERE, group=GROUP), 90, "no trial")
        first.send_signal(signal.SIGINT)
        _, message = first.communicate(timeout=60)
    assert first.returncode == 130, message
    assert f"context {context}, https://127.0.0.1" in message
    (name,) = [v["metadata"]["name"] for v in lab.cluster.list("Validation", HERE, group=GROUP)]
    assert f"delete validation {name}" in message
    assert f"running: {trials(lab, name)[0]['metadata']['name']}" in message
    second = subprocess.run(command, capture_output=True, timeout=300, text=True, cwd=tmp_path, env=environment)
    assert second.returncode == 0, second.stderr
    assert "resumed: started" in second.stderr
    assert "another incident" not in second.stderr, "the operator resolves it as this checkout does"
    report = json.loads(second.stdout)
    assert (report["verdict"], report.get("dataPlane", "Twin")) == ("Pass", "Twin")
    assert Report.from_json(json.loads(Path(tmp_path / report["report"]).read_text())).validation.n == 1
    eventually(lambda: not lab.cluster.list("Validation", HERE, group=GROUP), 60, "the Validation stays")


def test_deleted_running_validation_leaves_no_objects(lab, stored):
    kubectl(lab, "apply", "-f", "-", stdin=validation("withdrawn"))
    eventually(lambda: has_reached_step(lab, "withdrawn", "inject"), 180, "no trial came to inject")
    kubectl(lab, "delete", "-n", HERE, "validation", "withdrawn", "--timeout=120s")
    assert trials(lab, "withdrawn") == []
    eventually(lambda: not apps(lab), 60, f"namespaces stay: {apps(lab)}")


def apps(lab):
    return [n["metadata"]["name"] for n in lab.cluster.list("Namespace") if n["metadata"]["name"].startswith("otel-")]
