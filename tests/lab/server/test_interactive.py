"""Responses of a real API server to `kubectl exec`, `cp`, `attach`, `port-forward` and `debug` in a lab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenario_kit.clients import KubeCluster
from scenario_kit.clients.kubernetes_client import Official
from scenario_kit.lab.interactive import build_objects
from scenario_kit.model import Reference

pytestmark = pytest.mark.lab
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}], "automountServiceAccountToken": False},
}
DEBUGGER = {"spec": {"ephemeralContainers": [{"name": "look", "image": "busybox:1.37.0"}]}}
ASKED = {
    "exec": ("POST", "exec?container=web&command=ls&stdout=true", None, "nothing can be executed or copied"),
    "exec by GET": ("GET", "exec?container=web&command=ls&stdout=true", None, "nothing can be executed or copied"),
    "attach": ("POST", "attach?container=web&stdout=true", None, "`kubectl logs -f` shows"),
    "port-forward": ("POST", "portforward?ports=80", None, "no port of theirs can be forwarded"),
    "debug": ("PATCH", "ephemeralcontainers", DEBUGGER, "no debug container can join them"),
}


@pytest.fixture(scope="module")
def namespace(kube: KubeCluster) -> Iterator[str]:
    name = "interactive"
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    kube.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}})
    kube.create({**POD, "metadata": {"name": "web", "namespace": name}})
    for obj in build_objects():
        kube.apply(obj)
    yield name
    for obj in build_objects():
        kube.delete(Reference(obj["kind"], obj["metadata"]["name"], "", "admissionregistration.k8s.io"))


@pytest.mark.parametrize("case", ASKED)
def test_interactive_commands_are_rejected_with_an_alternative(case: str, namespace: str, api_server: Path) -> None:
    verb, path, body, reported = ASKED[case]
    access = Official(api_server)
    status, message = 0, ""
    for _ in range(1000):  # a policy takes a moment until it holds
        headers = {**access.headers(), "Content-Type": "application/strategic-merge-patch+json"}
        url = f"{access.url}/api/v1/namespaces/{namespace}/pods/web/{path}"
        answer = access.pool.request(verb, url, headers=headers, body=json.dumps(body) if body else None)
        status, message = answer.status, answer.data.decode()
        if "simulated-programs" in message:
            break
    access.close()
    assert status == 403
    assert reported in message
    assert "programs in a lab are simulated" in message
