"""A Validation that is applied: the operator runs the campaign, is killed on the way, and the verdict is there."""

import json
import os
import signal
import subprocess
import time

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


def reached(lab, name, step):
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
    eventually(lambda: reached(lab, "short", "expectQuiet"), 120, "no trial came to expectQuiet")
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


def test_deleted_on_the_way_nothing_stays(lab, stored):
    kubectl(lab, "apply", "-f", "-", stdin=validation("withdrawn"))
    eventually(lambda: reached(lab, "withdrawn", "inject"), 180, "no trial came to inject")
    kubectl(lab, "delete", "-n", HERE, "validation", "withdrawn", "--timeout=120s")
    assert trials(lab, "withdrawn") == []
    eventually(lambda: not apps(lab), 60, f"namespaces stay: {apps(lab)}")


def apps(lab):
    return [n["metadata"]["name"] for n in lab.cluster.list("Namespace") if n["metadata"]["name"].startswith("otel-")]
