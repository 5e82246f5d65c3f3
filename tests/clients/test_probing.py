"""Pod ports through the API server: responses of the program and of the proxy."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.clients import KubeCluster, probing
from scenario_kit.clients.transport import Transport
from scenario_kit.errors import Forbidden, NotFound, Unreachable
from scenario_kit.model import Reference
from scenario_kit.ports import Probed

KubeconfigFor = Callable[[str], Path]
PATH = "/api/v1/namespaces/shop/pods/web-0"


def status(code: int, message: str, reason: str = "") -> bytes:
    return json.dumps({"kind": "Status", "code": code, "message": message, "reason": reason}).encode()


@pytest.mark.parametrize(
    ("code", "body", "expected"),
    [
        (200, b"hello", Probed(True, 200)),
        (404, b"not found", Probed(True, 404)),
        (503, b"<html>overloaded</html>", Probed(True, 503)),
        (302, b"", Probed(True, 302)),
    ],
)
def test_probe_returns_program_response(
    kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any], code: int, body: bytes, expected: Probed
) -> None:
    script = scripted((code, body))
    assert probing.probe_http(Transport(kubeconfig_for(script.url)), PATH, 8080, "/health") == expected
    assert script.seen == [f"GET {PATH}:8080/proxy/health"]


def test_probe_reports_refused_connection(kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any]) -> None:
    message = "error trying to reach service: dial tcp 10.0.0.1:8080: connect: connection refused"
    script = scripted((503, status(503, message, "ServiceUnavailable")))
    answer = probing.probe_http(Transport(kubeconfig_for(script.url)), PATH, 8080, "/")
    assert (answer.connected, answer.status) == (False, None)
    assert "connection refused" in answer.reported


@pytest.mark.parametrize(
    ("code", "message", "error"),
    [(403, 'User "x" cannot get resource "pods/proxy"', Forbidden), (404, 'pods "web-0" not found', NotFound)],
)
def test_probe_raises_api_server_errors(
    kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any], code: int, message: str, error: type[Exception]
) -> None:
    script = scripted((code, status(code, message, "Forbidden" if code == 403 else "NotFound")))
    with pytest.raises(error):
        probing.probe_http(Transport(kubeconfig_for(script.url)), PATH, 8080, "/")


def test_probe_without_api_server_fails(kubeconfig_for: KubeconfigFor) -> None:
    with pytest.raises(Unreachable):
        probing.probe_http(Transport(kubeconfig_for("http://127.0.0.1:9")), PATH, 8080, "/")
    with pytest.raises(Unreachable):
        probing.probe_tcp(Transport(kubeconfig_for("http://127.0.0.1:9")), Reference("Pod", "web-0", "shop"), 8080)


def test_probe_with_failed_forwarding_is_unknown(kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any]) -> None:
    for code, error in ((500, Unreachable), (404, NotFound)):
        script = scripted((code, status(code, "no")))
        with pytest.raises(error):
            probing.probe_tcp(Transport(kubeconfig_for(script.url)), Reference("Pod", "web-0", "shop"), 8080)
        assert script.seen == [f"GET {PATH}/portforward?ports=8080"]


def test_probe_of_missing_pod_is_not_found(kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any]) -> None:
    resources = {
        "kind": "APIResourceList",
        "resources": [{"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["get", "list"]}],
    }
    script = scripted((200, json.dumps(resources).encode()), (404, status(404, "gone", "NotFound")))
    with pytest.raises(NotFound):
        KubeCluster(kubeconfig_for(script.url)).probe(Reference("Pod", "web-0", "shop"), 8080)


class Forward:
    """A forwarded port: the local end of a connection, and the kubelet's error."""

    def __init__(self, error: str | None, *, closes: bool = False) -> None:
        self.near, self.far = socket.socketpair()
        self._error = error
        if closes:
            self.far.close()

    def socket(self, port: int) -> socket.socket:
        return self.near

    def error(self, port: int) -> str | None:
        return self._error


def test_forwarded_port_only_reports_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "REFUSAL_SECONDS", 0.01)
    refused = Forward("an error occurred forwarding 8080: connection refused", closes=True)
    assert probing.read_forward(refused, 8080) == Probed(
        False, None, "an error occurred forwarding 8080: connection refused"
    )
    assert probing.read_forward(Forward(None), 8080).connected is True
    assert probing.read_forward(Forward(None, closes=True), 8080).connected is True, "it accepted, and hung up"
