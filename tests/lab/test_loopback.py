"""HTTP clients for parts of a lab: cheap, independent of the environment, trusting no foreign TLS."""

from __future__ import annotations

import httpx
import pytest

from scenario_kit.lab.host import loopback


def test_environment_proxy_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with loopback.create_client() as client:
        assert client.trust_env is False


def test_client_trusts_no_certificate_authority() -> None:
    assert loopback._NO_TLS.get_ca_certs() == []
    assert loopback._NO_TLS.check_hostname
    with loopback.create_client(timeout=1.0) as client, pytest.raises(httpx.ConnectError):
        client.get("https://127.0.0.1:9")
