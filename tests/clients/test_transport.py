from __future__ import annotations

import inspect
import ssl
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import kubernetes.client.exceptions
import kubernetes.config
import pytest
import urllib3.exceptions

from scenario_kit.clients import KubeCluster, transport
from scenario_kit.clients.kubernetes_client import OFFICIAL_ERRORS
from scenario_kit.clients.transport import Transport
from scenario_kit.clients.transport_errors import translate_error
from scenario_kit.errors import ClusterError, Unreachable
from scenario_kit.model import Reference

KubeconfigFor = Callable[[str], Path]


def exceptions_of(*modules: ModuleType) -> list[type[Exception]]:
    return [
        value
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, Exception)
        and not issubclass(value, Warning)
        and value.__module__.partition(".")[0] in ("urllib3", "kubernetes")
    ]


def test_all_exceptions_of_the_libraries_are_translated() -> None:
    found = exceptions_of(urllib3.exceptions, kubernetes.client.exceptions, kubernetes.config)
    assert len(found) > 30
    assert [e for e in found if not issubclass(e, OFFICIAL_ERRORS)] == []
    assert all(issubclass(e, OFFICIAL_ERRORS) for e in (ssl.SSLError, TimeoutError, ConnectionResetError))


def test_error_names_the_cause() -> None:
    error = translate_error(urllib3.exceptions.MaxRetryError(None, "/x", OSError("refused")), "GET /x")  # type: ignore[arg-type]
    assert "refused" in error.message
    assert error.fix


def test_unreachable_server_is_an_error(kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any]) -> None:
    kube = KubeCluster(kubeconfig_for("http://127.0.0.1:9"))
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9"):
        kube.get(Reference("Pod", "x", "shop"))


def test_closed_connection_is_an_error(kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any]) -> None:
    script = scripted((0, b""))
    with pytest.raises(Unreachable):
        Transport(kubeconfig_for(script.url)).json("PATCH", "/x", body={})
    assert len(script.seen) == 1  # a write whose fate is unknown is not repeated


def test_read_is_retried_after_broken_connection(kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any]) -> None:
    script = scripted((0, b""), (200, b'{"a": 1}'))
    assert Transport(kubeconfig_for(script.url)).json("GET", "/x") == {"a": 1}


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_request_rejected_with_429_is_retried(
    kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any], method: str
) -> None:
    script = scripted((429, b"{}"), (429, b"{}"), (200, b'{"a": 1}'))
    assert Transport(kubeconfig_for(script.url)).json(method, "/x", body={}) == {"a": 1}
    assert script.seen == [f"{method} /x"] * 3


def test_persistent_429_raises_after_retries(kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any]) -> None:
    script = scripted((429, b"{}"))
    with pytest.raises(ClusterError):
        Transport(kubeconfig_for(script.url)).json("POST", "/x", body={})
    assert len(script.seen) == 4


@pytest.mark.parametrize(("code", "body"), [(200, b"<html>"), (503, b"{}"), (500, b"")])
def test_invalid_responses_are_errors(
    kubeconfig_for: KubeconfigFor, scripted: Callable[..., Any], code: int, body: bytes
) -> None:
    with pytest.raises(Unreachable):
        Transport(kubeconfig_for(scripted((code, body)).url)).json("GET", "/x")


def test_context_sets_server_and_namespace(kubeconfig_for: KubeconfigFor) -> None:
    file = kubeconfig_for("http://127.0.0.1:9/")
    assert KubeCluster(file).namespace == "shop"
    assert KubeCluster(file, "y").namespace == "other"
    assert KubeCluster(file).server_url == "http://127.0.0.1:9"


def test_token_is_sent(kubeconfig_for: KubeconfigFor) -> None:
    made = Transport(kubeconfig_for("http://127.0.0.1:9"))
    headers = made._headers("application/json", "application/json")
    assert headers["authorization"] == "Bearer secret-token"
    assert headers["User-Agent"] == "platform"


@pytest.mark.parametrize(("text", "context"), [("", None), ("a: [", None), ("kind: Config", None), ("[]", None)])
def test_invalid_kubeconfigs_are_errors(tmp_path: Path, text: str, context: str | None) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(text)
    with pytest.raises(ClusterError, match="kubeconfig"):
        KubeCluster(file, context)


def test_missing_context_or_file_is_an_error(tmp_path: Path, kubeconfig_for: KubeconfigFor) -> None:
    with pytest.raises(ClusterError, match="nowhere"):
        KubeCluster(kubeconfig_for("http://127.0.0.1:9"), "nowhere")
    with pytest.raises(ClusterError, match="missing-file"):
        KubeCluster(tmp_path / "missing-file")


def test_environment_proxy_is_not_used_for_loopback(
    kubeconfig_for: KubeconfigFor, monkeypatch: pytest.MonkeyPatch, scripted: Callable[..., Any]
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    script = scripted((200, b"{}"))
    assert Transport(kubeconfig_for(script.url)).json("GET", "/x") == {}
    assert transport.CONNECT_SECONDS < transport.READ_SECONDS
