"""A Scenario that is applied: conditions all the way, a solver with few rights, and nothing left after delete."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from operators.leadership.lease import LEASE
from scenario_kit.catalog import find_data_root
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import Forbidden
from scenario_kit.lab import toolchain
from scenario_kit.lab.clock import WorldClock
from scenario_kit.lab.page.data import PageSource
from scenario_kit.model import Reference
from scenario_kit.schema.webhook import WEBHOOK_NAME

SCENARIOS = find_data_root() / "catalog" / "scenarios"
FILE = SCENARIOS / "payment-pod-failure" / "scenario.yaml"
REF = Reference("Scenario", "payment-pod-failure", "scenario-kit", "scenariokit.io")
WEBHOOK = Reference("ValidatingWebhookConfiguration", WEBHOOK_NAME, "", "admissionregistration.k8s.io")
PATCHED = Reference("Scenario", "product-catalog-wrong-target-port", "scenario-kit", "scenariokit.io")


def kubectl(lab, *arguments, solver=False):
    kubeconfig = lab.state.solver_kubeconfig if solver else lab.state.kubeconfig
    command = [str(toolchain.resolve("kubectl")), "--kubeconfig", kubeconfig, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def eventually(what, within, message):
    deadline = time.monotonic() + within
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > deadline:
            pytest.fail(f"{message} within {within} s; last seen: {value!r}")
        time.sleep(0.5)


def condition(lab, type, ref=REF):
    obj = lab.cluster.get(ref)
    found = {c["type"]: c for c in ((obj or {}).get("status") or {}).get("conditions") or []}
    return found.get(type, {})


def the_page_shows_it(lab):
    source = PageSource.of_lab(lab.name)
    world = source.world("otel-demo")
    tones = {c["name"]: c["tone"] for c in world["components"]}
    assert (tones["checkout"], tones["valkey-cart"]) == ("bad", "good")
    assert {(a["name"], a["entity"]) for a in world["alerts"] if a["state"] == "Firing"} >= {
        ("HighRequestErrorRate", "Deployment/checkout")
    }
    assert world["chart"]["faulty"]
    assert world["events"]
    assert source.logs("otel-demo", "checkout")
    (alerts,) = source.alerts()
    assert alerts["alerts"] == world["alerts"]


@pytest.fixture
def deleted_afterwards(lab):
    yield
    lab.cluster.delete(REF)
    eventually(lambda: lab.cluster.get(REF) is None, 120, "the scenario is not gone")


def test_plain_kubectl_apply_in_virtual_time(lab, deleted_afterwards, tmp_path):
    file = tmp_path / "scenario.yaml"
    text = FILE.read_text()
    assert "  annotations: {" in text
    file.write_text(text.replace("  annotations: {", "  annotations: {scenariokit.io/clock: Virtual, ", 1))
    assert kubectl(lab, "apply", "-f", str(file)).returncode == 0
    eventually(lambda: condition(lab, "SymptomsPresent").get("status") == "True", 120, "no symptoms")
    the_page_shows_it(lab)
    columns = kubectl(lab, "get", "scenarios").stdout
    assert "IncidentActive" in columns
    assert REF.name in columns
    solver = KubeCluster(kubeconfig=Path(lab.state.solver_kubeconfig), field_manager="kubectl-edit")
    assert solver.list("Pod", "otel-demo")
    with pytest.raises(Forbidden):
        solver.list("Scenario", "scenario-kit", group="scenariokit.io")
    with pytest.raises(Forbidden):
        solver.list("ConfigMap", "scenario-kit")
    (chaos,) = solver.list("PodChaos", "otel-demo", group="chaos-mesh.org")
    assert "payment" not in chaos["metadata"]["name"]
    solver.delete(Reference("PodChaos", chaos["metadata"]["name"], "otel-demo", "chaos-mesh.org"))
    state = lab.state
    trial = lab.cluster.get(REF)["status"]["trial"]
    clock = WorldClock(state.server_url, state.server_token, trial)

    def resolved():
        clock.wait(clock.now() + 60)
        return condition(lab, "Resolved").get("status") == "True"

    eventually(resolved, 180, "not resolved")
    lab.cluster.delete(REF)
    eventually(lambda: lab.cluster.get(REF) is None, 120, "the scenario is not gone")
    namespace = lab.cluster.get(Reference("Namespace", "otel-demo"))
    assert namespace is None or namespace["status"]["phase"] == "Terminating"
    assert lab.cluster.list("ConfigMap", "scenario-kit", labels={"scenariokit.io/trial": trial}) == []


def kill(lab, part):
    os.kill(lab.state.part(part).pid, signal.SIGKILL)


def apply_virtual(lab, ref, tmp_path):
    file = tmp_path / "scenario.yaml"
    text = (SCENARIOS / ref.name / "scenario.yaml").read_text()
    assert "  annotations: {" in text
    file.write_text(text.replace("  annotations: {", "  annotations: {scenariokit.io/clock: Virtual, ", 1))
    assert kubectl(lab, "apply", "-f", str(file)).returncode == 0


@pytest.fixture
def patched(lab):
    yield PATCHED
    lab.heal()
    lab.cluster.delete(PATCHED)
    eventually(lambda: lab.cluster.get(PATCHED) is None, 120, "the scenario is not gone")


def test_service_patch_runs_without_chaos_manager(lab, patched, tmp_path):
    kill(lab, "chaos-controller-manager")
    apply_virtual(lab, patched, tmp_path)
    eventually(lambda: condition(lab, "SymptomsPresent", patched).get("status") == "True", 120, "no symptoms")
    missing = eventually(
        lambda: condition(lab, "Resolved", patched).get("status") == "False" and condition(lab, "Resolved", patched),
        30, "nothing is said of what is missing",
    )  # fmt: skip
    assert missing["reason"] == "NotResolved"
    assert "HighRequestErrorRate on Deployment/frontend fires" in missing["message"]
    service = lab.cluster.get(Reference("Service", "product-catalog", "otel-demo"))
    port = {**service["spec"]["ports"][0], "targetPort": 8080}
    KubeCluster(kubeconfig=Path(lab.state.solver_kubeconfig), field_manager="kubectl-edit").patch(
        Reference("Service", "product-catalog", "otel-demo"), {"spec": {"ports": [port]}}
    )
    clock = WorldClock(lab.state.server_url, lab.state.server_token, lab.cluster.get(patched)["status"]["trial"])

    def resolved():
        clock.wait(clock.now() + 60)
        return condition(lab, "Resolved", patched).get("status") == "True"

    eventually(resolved, 180, "not resolved")
    lab.cluster.delete(patched)
    eventually(lambda: lab.cluster.get(patched) is None, 120, "the scenario is not gone")


def test_trial_ended_by_infrastructure_restarts(lab, patched, tmp_path):
    kill(lab, "prometheus")
    apply_virtual(lab, patched, tmp_path)

    def restarts():
        ready = condition(lab, "Ready", patched)
        return ready if "restarts at" in ready.get("message", "") else None

    ready = eventually(restarts, 90, "it does not say that it starts again")
    assert (ready["status"], ready["reason"]) == ("Unknown", "InfrastructureFailed")
    assert "prometheus" in ready["message"].lower()
    lab.heal()
    eventually(lambda: condition(lab, "SymptomsPresent", patched).get("status") == "True", 240, "no symptoms")
    assert lab.cluster.get(patched)["status"]["attempt"] > 1


@pytest.fixture
def lab_without_webhook(lab):
    """A lab whose API server does not call the operator's webhook."""
    found = lab.cluster.get(WEBHOOK)
    lab.cluster.delete(WEBHOOK)
    yield
    found["metadata"] = {"name": WEBHOOK.name}
    lab.cluster.create(found)


def test_kubectl_apply_prints_refusal_reasons(lab, tmp_path):
    """Apply with a dry run, retried while a restarted operator does not answer in time."""
    file = tmp_path / "scenario.yaml"

    def apply(*options):
        tried = kubectl(lab, "apply", *options, "-f", str(file))
        if tried.returncode == 0:
            kubectl(lab, "delete", *options, "-f", str(file))
        return tried.stderr if tried.returncode else ""

    def apply_changed(old, new, *options):
        file.write_text(FILE.read_text().replace(old, new))
        return eventually(lambda: apply(*options), 60, "not refused")

    misspelled = apply_changed("type: pod-failure", "type: pod-failur")
    assert "SK108 spec.faults[0].type: there is no fault type 'pod-failur' (did you mean `pod-failure`" in misspelled
    assert "docs/rules.md#sk108-" in misspelled
    assert "SK110 spec.faults[0].target: " in apply_changed("target: Deployment/payment", "target: Deployment/paymnt")
    assert "SK605 spec.brief: " in apply_changed("  brief: ", "  # brief: ")
    assert "apply it in 'scenario-kit'" in apply_changed("", "", "-n", "default")
    assert lab.cluster.get(REF) is None


def test_scenario_in_a_visible_namespace_is_refused(lab, lab_without_webhook):
    kubectl(lab, "create", "namespace", "elsewhere")
    try:
        assert kubectl(lab, "apply", "-n", "elsewhere", "-f", str(FILE)).returncode == 0
        ref = Reference("Scenario", REF.name, "elsewhere", "scenariokit.io")

        def reason():
            status = (lab.cluster.get(ref) or {}).get("status") or {}
            return {c["type"]: c["reason"] for c in status.get("conditions") or []}.get("Accepted")

        assert eventually(reason, 30, "no answer") == "NamespaceVisible"
        lab.cluster.delete(ref)
        eventually(lambda: lab.cluster.get(ref) is None, 30, "not deleted")
    finally:
        kubectl(lab, "delete", "namespace", "elsewhere", "--wait=false")


def test_unknown_fault_is_not_accepted_with_a_suggestion(lab, lab_without_webhook, tmp_path):
    file = tmp_path / "scenario.yaml"
    file.write_text(FILE.read_text().replace("type: pod-failure", "type: pod-failur"))
    assert kubectl(lab, "apply", "-f", str(file)).returncode == 0
    try:
        found = eventually(
            lambda: condition(lab, "Accepted").get("status") == "False" and condition(lab, "Accepted"), 30, "no answer"
        )
        assert found["reason"] == "UnknownFault"
        assert found["message"].startswith("SK108 spec.faults[0].type: ")
        assert "pod-failure" in found["message"]
    finally:
        lab.cluster.delete(REF)
        eventually(lambda: lab.cluster.get(REF) is None, 60, "not deleted")


def test_wall_clock_trial_reaches_the_fault(lab, deleted_afterwards):
    assert kubectl(lab, "apply", "-f", str(FILE)).returncode == 0
    eventually(lambda: condition(lab, "AppReady").get("status") == "True", 120, "the app is not ready")
    eventually(lambda: condition(lab, "BaselineQuiet").get("status") == "True", 180, "it is not quiet")
    eventually(lambda: condition(lab, "FaultsInjected").get("status") == "True", 180, "the fault has no effect")


def test_second_operator_waits_for_the_first(lab):
    """A second operator waits while the lab's own holds the Lease, and is ready."""
    command = [sys.executable, "-m", "operators.scenario", "--lab", lab.name]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as second:
        try:
            line = next(text for text in second.stderr if "Lease" in text)
            holder = lab.cluster.get(LEASE)["spec"]["holderIdentity"]
            assert f"waiting for the Lease {LEASE}, which {holder} holds" in line
            assert holder.split("_")[1] == str(lab.state.part("operator").pid)
            os.kill(lab.state.part("operator").pid, signal.SIGKILL)
            line = next(text for text in second.stderr if "holds the Lease" in text)
            assert f"_{second.pid}_" in line
        finally:
            second.kill()
