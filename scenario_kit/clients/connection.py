"""The way to an API server as one identity: its address, connections, and the headers that say who asks.

A kubeconfig may ask for much: tokens that are renewed, programs that print them, proxies. That is the official client's
work, ``official``. What a lab writes for itself is a client certificate for an address on loopback; to read that takes
nothing that urllib3 lacks, while importing the official client takes 0.2 s and 25 MB of every command and every part.
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

import urllib3
import yaml

#: Connections that are kept open, and names and addresses of this machine itself.
CONNECTIONS: Final = 32
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_CLUSTER: Final = {"server", "certificate-authority-data"}
_USER: Final = {"client-certificate-data", "client-key-data"}


class ApiConnection(Protocol):
    """One identity at one API server."""

    @property
    def url(self) -> str:
        """The address of the API server, without a slash at its end."""

    @property
    def namespace(self) -> str:
        """The namespace of the context."""

    @property
    def pool(self) -> urllib3.PoolManager:
        """Connections that verify the server, and show it a certificate where the identity has one."""

    def headers(self) -> Mapping[str, str]:
        """Return what to send with a request, asked for each, since tokens are renewed.

        Raises:
            ClusterError: there is no token to be had.
        """


class Certificate:
    """An identity that is a client certificate, at an address on loopback."""

    def __init__(self, url: str, namespace: str, tls: ssl.SSLContext) -> None:
        self.url = url
        self.namespace = namespace
        self.pool = urllib3.PoolManager(num_pools=4, maxsize=CONNECTIONS, ssl_context=tls)

    def headers(self) -> Mapping[str, str]:
        """See ``ApiConnection``: the certificate says it all."""
        return {}


def read_certificate(kubeconfig: Path, context: str | None) -> Certificate | None:
    """Read the identity of a context that is a certificate and nothing else, at an address on loopback.

    None where the context asks for anything more, and where the file is not what it should be: then the official client
    reads it, or says what is wrong with it.
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
        _show(tls, _decode(user["client-certificate-data"]) + b"\n" + _decode(user["client-key-data"]))
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
        raise ValueError("no base64") from error


def _show(tls: ssl.SSLContext, pem: bytes) -> None:
    """Take certificate and key; ``ssl`` reads them from files only, so for as long as that takes they are in one."""
    handle, name = tempfile.mkstemp(prefix="scenario-kit-", suffix=".pem")  # for its owner only
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
        tls.load_cert_chain(name)
    finally:
        Path(name).unlink()
