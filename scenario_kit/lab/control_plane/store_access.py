"""Access to etcd: only the API server and the lab, over mutual TLS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.mutual_tls import MutualTls


def locate_store_tls(pki: Path) -> MutualTls:
    """Locate the certificates of etcd, which its gateway also shows to itself, and of its clients."""
    return MutualTls(pki, "etcd")


def build_store_flags(pki: Path) -> Mapping[str, str]:
    """Build the access flags of etcd."""
    tls = locate_store_tls(pki)
    return {
        "cert-file": str(tls.server_certificate),
        "key-file": str(tls.server_key),
        "trusted-ca-file": str(tls.authority),
        "client-cert-auth": "true",
        "peer-cert-file": str(tls.server_certificate),
        "peer-key-file": str(tls.server_key),
        "peer-trusted-ca-file": str(tls.authority),
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
    """Build the API server's etcd flags."""
    tls = locate_store_tls(pki)
    return {
        "etcd-cafile": str(tls.authority),
        "etcd-certfile": str(tls.client_certificate),
        "etcd-keyfile": str(tls.client_key),
    }


def build_store_url(port: int) -> str:
    """Build the address at which etcd listens."""
    return f"https://{LOOPBACK}:{port}"
