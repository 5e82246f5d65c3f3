"""The resource metrics API as an aggregated API: the API server proxies its requests to the lab server.

As in any cluster, the API server authenticates and authorises the client, and presents its own client certificate;
other connections to the lab server's port are rejected. The Service is an ``ExternalName``, because Service addresses
are not routed on this machine.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding

from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.model.base import Object

PORT = "metrics-server"
GROUP = "metrics.k8s.io"
VERSION = "v1beta1"
_NAMESPACE, _SERVICE = "kube-system", "metrics-server"
#: The server name that the API server verifies in a Service's certificate.
SERVER_NAME = f"{_SERVICE}.{_NAMESPACE}.svc"
_CLIENT = "front-proxy-client"


def write_keys(pki: Path) -> None:
    """Write the metrics API's certificate, signed by the cluster's CA, and the API server's client certificate."""
    authority = Authority.load(pki / "ca.crt", pki / "ca.key")
    issue(authority, _SERVICE, hosts=[SERVER_NAME], client=False).write(
        pki / "metrics-server.crt", pki / "metrics-server.key"
    )
    proxies = Authority.create("front-proxy-ca")
    (pki / "front-proxy-ca.crt").write_bytes(proxies.certificate.public_bytes(Encoding.PEM))
    issue(proxies, _CLIENT).write(pki / "front-proxy-client.crt", pki / "front-proxy-client.key")


def build_flags(pki: Path) -> Mapping[str, str]:
    """Build the API server's flags for aggregation."""
    return {
        "proxy-client-cert-file": str(pki / "front-proxy-client.crt"),
        "proxy-client-key-file": str(pki / "front-proxy-client.key"),
        "requestheader-client-ca-file": str(pki / "front-proxy-ca.crt"),
        "requestheader-allowed-names": _CLIENT,
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
    }


def build_server_context(pki: Path) -> ssl.SSLContext:
    """Build the TLS context of the metrics API; only the API server may connect."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(pki / "front-proxy-ca.crt"))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(pki / "metrics-server.crt", pki / "metrics-server.key")
    return context


def build_objects(pki: Path, port: int) -> list[Object]:
    """Build the Service and the APIService of the metrics API on a port of this machine."""
    labels = {"k8s-app": _SERVICE}
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": _SERVICE, "namespace": _NAMESPACE, "labels": labels},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        },
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"{VERSION}.{GROUP}", "labels": labels},
            "spec": {
                "group": GROUP,
                "version": VERSION,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
                "caBundle": base64.b64encode((pki / "ca.crt").read_bytes()).decode(),
                "service": {"name": _SERVICE, "namespace": _NAMESPACE, "port": port},
            },
        },
    ]
