"""Installation works with its own permissions, and `kubectl delete` removes everything, on a real control plane."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import find_data_root
from scenario_kit.cli.operator import collect_manifests
from scenario_kit.clients import KubeCluster
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.schema.deployment import Installation
from scenario_kit.schema.install import NAME, NAMESPACE
from scenario_kit.schema.webhook import WEBHOOK_NAME
from tests.conftest import run_control_plane

SCENARIO = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
#: What a cluster keeps changing by itself.
OF_THE_CLUSTER = ("Event", "Lease", "EndpointSlice", "Endpoints", "ComponentStatus", "APIService", "NodeMetrics")
SECONDS = 90

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def kubeconfig(binary: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A dedicated control plane with the controllers that empty namespaces."""
    components = ("etcd", "kube-apiserver", "kube-controller-manager")
    with run_control_plane(binary, tmp_path_factory.mktemp("uninstall"), components=components) as file:
        yield file


#: The namespaces of every cluster.
_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


def list_everything(cluster: KubeCluster) -> set[str]:
    """Every object of a cluster, of all kinds that it serves; and its own Leases, which none but ours makes here."""
    kinds = [kind for kind in cluster.kinds() if kind.kind not in OF_THE_CLUSTER]
    found = {
        f"{kind.kind}.{kind.group} {obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}"
        for kind in kinds
        for obj in cluster.list(kind.kind, group=kind.group)
    }
    leases = cluster.list("Lease", group="coordination.k8s.io")
    return found | {f"Lease {NAMESPACE}" for obj in leases if obj["metadata"]["namespace"] == NAMESPACE}


def wait_for(what: str, holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + SECONDS
    while not (found := holds()):
        assert time.monotonic() < deadline, f"{what}: not within {SECONDS} s"
        time.sleep(0.2)
    return found


def find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def run_operator(cluster: KubeCluster, kubeconfig: Path, folder: Path) -> Iterator[Path]:
    """Run the operator as its pod does, with the token of its ServiceAccount and so with its printed rights alone."""
    token = cluster.request_token(Reference("ServiceAccount", NAME, NAMESPACE), 3600)
    config = yaml.safe_load(kubeconfig.read_text())
    context = next(c for c in config["contexts"] if c["name"] == config["current-context"])
    config["users"] = [{"name": context["context"]["user"], "user": {"token": token}}]
    file = folder / "operator.kubeconfig"
    file.write_text(yaml.safe_dump(config))
    where = ["--context", context["name"], "--allow-context", context["name"]]
    more = ["--prometheus-url", "http://127.0.0.1:9", "--webhook", f"127.0.0.1:{find_port()}"]
    command = [sys.executable, "-m", "operators.scenario", *where, *more]
    environment = {**os.environ, "KUBECONFIG": str(file)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=find_data_root())
        try:
            yield folder / "log"
        finally:
            process.terminate()
            process.wait(30)


def has_trusted_authority(cluster: KubeCluster) -> bool:
    found = cluster.get(Reference("ValidatingWebhookConfiguration", WEBHOOK_NAME, "", "admissionregistration.k8s.io"))
    return bool(found and found["webhooks"][0]["clientConfig"].get("caBundle"))


def test_uninstall_deletes_every_object(kubeconfig: Path, binary: Callable[[str], Path], tmp_path: Path) -> None:
    cluster = KubeCluster(kubeconfig)
    printed = tmp_path / "manifests.yaml"
    printed.write_text("---\n".join(collect_manifests(Installation(webhook=True), platform=True).values()))

    def kubectl(*words: str) -> str:
        command = [str(binary("kubectl")), "--kubeconfig", str(kubeconfig), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    # What the controllers put into every namespace arrives one by one; later arrivals would look like remains.
    own = [Reference("ServiceAccount", "default", each) for each in _NAMESPACES]
    own += [Reference("ConfigMap", "kube-root-ca.crt", each) for each in _NAMESPACES]
    wait_for("the controllers", lambda: all(cluster.get(each) for each in own))
    before = list_everything(cluster)
    kubectl("apply", "--server-side", "-f", str(printed))
    scenario = yaml.safe_load(SCENARIO.read_text())
    scenario["metadata"]["namespace"] = NAMESPACE
    scenario["spec"]["suspend"] = True
    (tmp_path / "scenario.json").write_text(json.dumps(scenario))
    ref = Reference("Scenario", scenario["metadata"]["name"], NAMESPACE, GROUP)
    with run_operator(cluster, kubeconfig, tmp_path) as log:
        wait_for("its Lease", lambda: cluster.get(Reference("Lease", NAME, NAMESPACE, "coordination.k8s.io")))
        wait_for("its certificate", lambda: cluster.get(Reference("Secret", WEBHOOK_NAME, NAMESPACE)))
        wait_for("its authority", lambda: has_trusted_authority(cluster))
        kubectl("apply", "-f", str(tmp_path / "scenario.json"))
        seen: Object = wait_for("its judgement", lambda: (cluster.get(ref) or {}).get("status"))
        assert "finalizers" in (cluster.get(ref) or {})["metadata"]
        assert seen["conditions"][0]["type"] == "Accepted"
        assert f"Lease {NAMESPACE}" in list_everything(cluster)
        kubectl("delete", "-f", str(tmp_path / "scenario.json"))
        assert "orbidden" not in log.read_text(), log.read_text()
        kubectl("delete", "--ignore-not-found", "-f", str(printed))  # some go with their namespace

    def is_gone() -> bool:
        return list_everything(cluster) == before

    try:
        wait_for("everything is gone", is_gone)
    except AssertionError as error:
        raise AssertionError(f"{error}: {sorted(list_everything(cluster) ^ before)}") from error
