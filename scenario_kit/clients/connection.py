"""Connections to an API server with one identity: address, pool, and authentication headers.

A kubeconfig may require renewed tokens, credential plugins or proxies; ``official`` leaves these to the official
client. A lab's own kubeconfig has a client certificate and a loopback address, which urllib3 can handle, while
importing the official client costs every command and component 0.2 s and 25 MB.
"""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
import yaml

#: The size of a connection pool.
CONNECTIONS: Final = 32
#: Names and addresses of this machine.
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_CLUSTER: Final = {"server", "certificate-authority-data"}
_USER: Final = {"client-certificate-data", "client-key-data"}


class ApiConnection(Protocol):
    """A connection to an API server with one identity."""

    @property
    def url(self) -> str:
        """The URL of the API server, without a trailing slash."""

    @property
    def namespace(self) -> str:
        """The namespace of the context."""

    @property
    def pool(self) -> urllib3.PoolManager:
        """A pool that verifies the server, and presents a client certificate if the identity has one."""

    def headers(self) -> Mapping[str, str]:
        """Return the headers of a request, per request since tokens are renewed.

        Raises:
            ClusterError: no token is available.
        """


def create_pool(url: str, tls: ssl.SSLContext | None = None) -> urllib3.PoolManager:
    """Create a connection pool; through the environment's proxy, except for this machine.

    ``tls`` has the trusted authorities and the client certificate; by default the system's authorities and none.
    """
    where = urlsplit(url)
    proxy = getproxies().get(where.scheme, "")
    if not proxy or where.hostname in LOOPBACK or proxy_bypass(where.netloc):
        return urllib3.PoolManager(maxsize=CONNECTIONS, ssl_context=tls)
    return urllib3.ProxyManager(proxy, maxsize=CONNECTIONS, ssl_context=tls)


class Certificate:
    """A client certificate for a loopback address."""

    def __init__(self, url: str, namespace: str, tls: ssl.SSLContext) -> None:
        self.url = url
        self.namespace = namespace
        self.pool = urllib3.PoolManager(num_pools=4, maxsize=CONNECTIONS, ssl_context=tls)

    def headers(self) -> Mapping[str, str]:
        """See ``ApiConnection``; none are needed."""
        return {}


def read_certificate(kubeconfig: Path, context: str | None) -> Certificate | None:
    """Read the identity of a context if it is a client certificate for a loopback address, and nothing else.

    None if the context requires anything more, or the file is invalid: the official client then reads it, or reports
    the error.
    """
    try:
        data = yaml.load(kubeconfig.read_bytes(), Loader=_Loader)
        chosen = _find_entry(data["contexts"], context or data["current-context"])["context"]
        cluster = _find_entry(data["clusters"], chosen["cluster"])["cluster"]
        user = _find_entry(data["users"], chosen["user"])["user"]
        url = urlsplit(cluster["server"])
        if set(cluster) != _CLUSTER or set(user) != _USER or url.scheme != "https" or url.hostname not in LOOPBACK:
            return None
        tls = ssl.create_default_context(cadata=_decode(cluster["certificate-authority-data"]).decode("ascii"))
        load_key_pair(tls, _decode(user["client-certificate-data"]) + b"\n" + _decode(user["client-key-data"]))
        return Certificate(url.geturl().rstrip("/"), str(chosen.get("namespace", "default")), tls)
    except (OSError, yaml.YAMLError, LookupError, TypeError, ValueError, AttributeError):  # SSLError is an OSError
        return None


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _find_entry(entries: Any, name: Any) -> Any:
    found = [entry for entry in entries if entry["name"] == name]
    if len(found) != 1:
        raise LookupError(name)
    return found[0]


def _decode(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error


def load_key_pair(tls: ssl.SSLContext, pem: bytes) -> None:
    """Use a certificate in new connections; ``pem`` contains it and its private key.

    ``ssl`` reads keys only from files. An anonymous file, where available, cannot be left behind by a killed process.
    """
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("key-pair"), "wb") as file:
            file.write(pem)
            file.flush()
            tls.load_cert_chain(f"/proc/self/fd/{file.fileno()}")
        return
    handle, name = tempfile.mkstemp(prefix="scenario-kit-", suffix=".pem")  # readable by its owner only
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
        tls.load_cert_chain(name)
    finally:
        Path(name).unlink()
