"""Kubeconfigs of labs are read without the official client, all others with it."""

from __future__ import annotations

import base64
import http.server
import json
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.clients.certificates import Authority, KeyPair, issue
from scenario_kit.clients.connection import read_certificate
from scenario_kit.clients.kubernetes_client import Official
from scenario_kit.clients.transport import Transport
from scenario_kit.errors import Unreachable
from scenario_kit.lab.control_plane.kubeconfigs import build_embedded

AUTHORITY, OTHER = Authority.create("cluster"), Authority.create("somebody else")
USER = issue(AUTHORITY, "admin", groups=["system:masters"])
Change = Callable[[dict[str, Any], dict[str, Any]], object]


def pem(authority: Authority) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return authority.certificate.public_bytes(Encoding.PEM)


def document(url: str = "https://127.0.0.1:9", authority: Authority = AUTHORITY, user: KeyPair = USER) -> Any:
    return build_embedded(url, pem(authority), "admin", user, "shop", "lab")


def write_kubeconfig(folder: Path, content: Any) -> Path:
    file = folder / "kubeconfig"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


@pytest.fixture(params=["127.0.0.1"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An HTTPS server that the authority vouches for, and that answers with the name in the client's certificate."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            peer = self.connection.getpeercert()  # type: ignore[attr-defined]
            body = json.dumps(dict(field[0] for field in peer["subject"])).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    issue(AUTHORITY, "server", hosts=["localhost"], addresses=[request.param], client=False).write(
        tmp_path / "server.crt", tmp_path / "server.key"
    )
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=pem(AUTHORITY).decode())
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.socket = tls.wrap_socket(httpd.socket, server_side=True)
    threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True).start()
    yield f"https://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()


def test_client_certificate_is_presented(tmp_path: Path, server: str) -> None:
    transport = Transport(write_kubeconfig(tmp_path, document(server)))
    assert "official" not in vars(transport)
    assert transport.json("GET", "/who")["commonName"] == "admin"
    assert (transport.url, transport.namespace) == (server, "shop")
    transport.close()


def test_certificate_identity_matches_official_client(tmp_path: Path, server: str) -> None:
    file = write_kubeconfig(tmp_path, document(server))
    own, official = read_certificate(file, None), Official(file)
    assert own is not None
    assert (own.url, own.namespace) == (official.url, official.namespace)
    assert (
        official.pool.request("GET", f"{server}/who").status == own.pool.request("GET", f"{server}/who").status == 200
    )


def test_server_with_unknown_authority_is_refused(tmp_path: Path, server: str) -> None:
    with pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"):
        Transport(write_kubeconfig(tmp_path, document(server, authority=OTHER))).json("GET", "/who")


@pytest.mark.parametrize("server", ["192.0.2.1"], indirect=True)
def test_server_certificate_for_other_address_is_refused(tmp_path: Path, server: str) -> None:
    with pytest.raises(Unreachable, match="IP address mismatch"):
        Transport(write_kubeconfig(tmp_path, document(server))).json("GET", "/who")


def test_private_key_is_not_left_on_disk(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    assert read_certificate(write_kubeconfig(tmp_path, document(server)), None) is not None
    broken = document(server)
    broken["users"][0]["user"]["client-key-data"] = base64.b64encode(b"no key").decode()
    assert read_certificate(write_kubeconfig(tmp_path, broken), None) is None
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda cluster, user: cluster.update(server="https://192.0.2.1:6443"),
        lambda cluster, user: cluster.update(server="http://127.0.0.1:8080"),
        lambda cluster, user: cluster.update({"insecure-skip-tls-verify": True}),
        lambda cluster, user: cluster.update({"proxy-url": "http://127.0.0.1:3128"}),
        lambda cluster, user: cluster.update({"tls-server-name": "kubernetes"}),
        lambda cluster, user: cluster.pop("certificate-authority-data"),
        lambda cluster, user: cluster.update({"certificate-authority-data": "%%%"}),
        lambda cluster, user: cluster.update({"certificate-authority-data": base64.b64encode(b"none").decode()}),
        lambda cluster, user: user.update(token="t"),
        lambda cluster, user: user.update(exec={"command": "aws"}),
        lambda cluster, user: user.update({"as": "somebody"}),
        lambda cluster, user: user.pop("client-key-data"),
        lambda cluster, user: user.update({"client-certificate-data": 7}),
    ],
)
def test_other_authentication_uses_official_client(tmp_path: Path, change: Change) -> None:
    content = document()
    change(content["clusters"][0]["cluster"], content["users"][0]["user"])
    assert read_certificate(write_kubeconfig(tmp_path, content), None) is None


@pytest.mark.parametrize("text", ["", "[]", "a: [", "kind: Config", "current-context: x\ncontexts: []", "\x00"])
def test_invalid_kubeconfig_is_ignored(tmp_path: Path, text: str) -> None:
    assert read_certificate(write_kubeconfig(tmp_path, text), None) is None


def test_contexts(tmp_path: Path) -> None:
    content = document()
    file = write_kubeconfig(tmp_path, content)
    assert read_certificate(file, "lab") is not None
    assert read_certificate(file, "other") is None
    assert read_certificate(tmp_path / "missing", None) is None
    content["contexts"] *= 2
    assert read_certificate(write_kubeconfig(tmp_path, content), "lab") is None


def test_lab_commands_do_not_import_the_official_client() -> None:
    code = (
        "import sys, scenario_kit.clients.kube, scenario_kit.lab.server.composition; print('kubernetes' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
