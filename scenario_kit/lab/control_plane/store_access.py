"""Who may talk to etcd: the API server and the lab itself, over mutual TLS, by an authority that signs for nobody else.

The cluster's own authority would not do: it signs certificates of solvers, and etcd asks nobody about rights.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding

from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.lab.host.addresses import LOOPBACK

_NAME = "etcd"


def write_store_keys(pki: Path) -> None:
    """Write the certificates of etcd, which its gateway also shows to itself, and of its clients."""
    authority = Authority.create("etcd-ca")
    (pki / "etcd-ca.crt").write_bytes(authority.certificate.public_bytes(Encoding.PEM))
    issue(authority, _NAME, hosts=["localhost"], addresses=[LOOPBACK]).write(pki / "etcd.crt", pki / "etcd.key")
    issue(authority, "etcd-client").write(pki / "etcd-client.crt", pki / "etcd-client.key")


def build_store_flags(pki: Path) -> Mapping[str, str]:
    """Build what etcd is told, beside its own flags."""
    return {
        "cert-file": str(pki / "etcd.crt"),
        "key-file": str(pki / "etcd.key"),
        "trusted-ca-file": str(pki / "etcd-ca.crt"),
        "client-cert-auth": "true",
        "peer-cert-file": str(pki / "etcd.crt"),
        "peer-key-file": str(pki / "etcd.key"),
        "peer-trusted-ca-file": str(pki / "etcd-ca.crt"),
        "peer-client-cert-auth": "true",
    }


def build_store_addresses(port: int, peer_port: int) -> Mapping[str, str]:
    """Build the addresses of etcd, which take the place of those that kwokctl would write."""
    here, peers = build_store_url(port), build_store_url(peer_port)
    return {
        "listen-client-urls": here,
        "advertise-client-urls": here,
        "listen-peer-urls": peers,
        "initial-advertise-peer-urls": peers,
        "initial-cluster": f"node0={peers}",
    }


def build_client_flags(pki: Path) -> Mapping[str, str]:
    """Build what the API server is told about its store."""
    return {
        "etcd-cafile": str(pki / "etcd-ca.crt"),
        "etcd-certfile": str(pki / "etcd-client.crt"),
        "etcd-keyfile": str(pki / "etcd-client.key"),
    }


def build_store_url(port: int) -> str:
    """Build the address at which etcd listens."""
    return f"https://{LOOPBACK}:{port}"


def build_client_context(pki: Path) -> ssl.SSLContext:
    """Build TLS of a client of etcd."""
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=str(pki / "etcd-ca.crt"))
    context.load_cert_chain(pki / "etcd-client.crt", pki / "etcd-client.key")
    return context
