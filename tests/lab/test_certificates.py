"""Every certificate of a lab passes OpenSSL's strict verification, the default from Python 3.13 on."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import verification
from cryptography.x509.oid import ExtendedKeyUsageOID

from scenario_kit.clients.certificates import Authority, KeyPair, issue
from scenario_kit.lab.control_plane import apiservice, kubeconfigs
from scenario_kit.lab.control_plane.cluster_keys import write_cluster_keys


def pem(authority: Authority) -> bytes:
    return authority.certificate.public_bytes(Encoding.PEM)


def verify_handshake(
    folder: Path, trusted: bytes, server: KeyPair, host: str, client: KeyPair | None, of: bytes = b""
) -> str:
    """Why a strict handshake in memory fails; empty when both ends accept each other."""
    ends = []
    for name, pair, purpose, authority in (
        ("client", client, ssl.PROTOCOL_TLS_CLIENT, trusted),
        ("server", server, ssl.PROTOCOL_TLS_SERVER, of or trusted),
    ):
        context = ssl.SSLContext(purpose)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.load_verify_locations(cadata=authority.decode())
        if name == "server":
            context.verify_mode = ssl.CERT_REQUIRED if client else ssl.CERT_NONE
        if pair:
            pair.write(folder / f"{name}.crt", folder / f"{name}.key")
            context.load_cert_chain(folder / f"{name}.crt", folder / f"{name}.key")
        ends.append(context)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    speakers = [
        ends[0].wrap_bio(back, there, server_hostname=host),
        ends[1].wrap_bio(there, back, server_side=True),
    ]
    done = [False, False]
    for _ in range(10):
        for number, speaker in enumerate(speakers):
            try:
                speaker.do_handshake()
                done[number] = True
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError as error:
                return str(error)
    return "" if all(done) else "the handshake did not end"


def load(folder: Path, name: str) -> KeyPair:
    return KeyPair((folder / f"{name}.crt").read_bytes(), (folder / f"{name}.key").read_bytes())


def solver(folder: Path) -> KeyPair:
    kubeconfigs.write_solver(folder / "config", "https://127.0.0.1:1", folder)
    user = yaml.safe_load((folder / "config").read_text())["users"][0]["user"]
    return KeyPair(*(base64.b64decode(user[f"client-{part}-data"]) for part in ("certificate", "key")))


@pytest.fixture
def pki(tmp_path: Path) -> Path:
    write_cluster_keys(tmp_path / "pki")
    apiservice.write_keys(tmp_path / "pki")
    return tmp_path / "pki"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "kubernetes.default.svc.cluster.local"])
def test_api_server_and_clients_authenticate(pki: Path, tmp_path: Path, host: str) -> None:
    trusted, server = (pki / "ca.crt").read_bytes(), load(pki, "admin")
    for client in (load(pki, "admin"), solver(pki)):
        assert verify_handshake(tmp_path, trusted, server, host, client) == ""


def test_aggregated_api_and_the_api_server(pki: Path, tmp_path: Path) -> None:
    proxies = (pki / "front-proxy-ca.crt").read_bytes()
    server, client = load(pki, "metrics-server"), load(pki, "front-proxy-client")
    trusted = (pki / "ca.crt").read_bytes()
    assert verify_handshake(tmp_path, trusted, server, apiservice.SERVER_NAME, client, proxies) == ""
    assert verify_handshake(tmp_path, trusted, server, apiservice.SERVER_NAME, client), "a client of another authority"


def test_chaos_daemon_and_manager_authenticate(tmp_path: Path) -> None:
    authority = Authority.create("chaos-mesh")
    server = issue(authority, "daemon", hosts=["daemon.example"], client=False)
    assert verify_handshake(tmp_path, pem(authority), server, "daemon.example", issue(authority, "manager")) == ""


EXTENSIONS: list[tuple[type[Any], bool]] = [
    (x509.BasicConstraints, True),
    (x509.KeyUsage, True),
    (x509.SubjectKeyIdentifier, False),
    (x509.AuthorityKeyIdentifier, False),
]


@pytest.mark.parametrize("ca", [True, False], ids=["authority", "issued"])
def test_certificates_have_the_rfc_5280_extensions(ca: bool) -> None:
    authority = Authority.create("some")
    made = issue(authority, "user", groups=["group"], hosts=["host.example"])
    certificate = authority.certificate if ca else x509.load_pem_x509_certificate(made.certificate)
    for kind, critical in EXTENSIONS:
        assert certificate.extensions.get_extension_for_class(kind).critical is critical, kind
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    assert (usage.digital_signature, usage.key_cert_sign, usage.crl_sign) == (True, ca, ca)
    signer = authority.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    assert certificate.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier == signer
    assert certificate.not_valid_after_utc <= authority.certificate.not_valid_after_utc


def test_second_implementation_of_the_rules_agrees() -> None:
    authority = Authority.create("some")
    made = x509.load_pem_x509_certificate(issue(authority, "x", hosts=["host.example"], client=False).certificate)
    verifier = (
        verification.PolicyBuilder()
        .store(verification.Store([authority.certificate]))
        .build_server_verifier(x509.DNSName("host.example"))
    )
    assert len(verifier.verify(made, [])) == 2
    assert ExtendedKeyUsageOID.SERVER_AUTH in made.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
