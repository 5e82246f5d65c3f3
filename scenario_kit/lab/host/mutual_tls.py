"""Mutual TLS of one server of a lab: a dedicated authority, and one certificate for each side.

Another authority would not do: the cluster's signs certificates of solvers, who may reach whatever listens on loopback.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.serialization import Encoding

from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.lab.host.addresses import LOOPBACK

_CERTIFICATE: Final = ".crt"
_KEY: Final = ".key"


class MutualTls(NamedTuple):
    """The files of a server's mutual TLS in ``folder``: ``<name>-ca.crt``, ``<name>.*`` and ``<name>-client.*``."""

    folder: Path
    name: str

    @property
    def authority(self) -> Path:
        """The certificate by which each side verifies the other."""
        return self._locate("-ca", _CERTIFICATE)

    @property
    def server_certificate(self) -> Path:
        """The certificate of the server."""
        return self._locate("", _CERTIFICATE)

    @property
    def server_key(self) -> Path:
        """The key of the server."""
        return self._locate("", _KEY)

    @property
    def client_certificate(self) -> Path:
        """The certificate of its clients."""
        return self._locate("-client", _CERTIFICATE)

    @property
    def client_key(self) -> Path:
        """The key of its clients."""
        return self._locate("-client", _KEY)

    def write(self, *, hosts: Sequence[str] = ("localhost",)) -> None:
        """Write all files; keys are readable by their owner only. The authority's key is not kept."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        authority = Authority.create(f"{self.name}-ca")
        self.authority.write_bytes(authority.certificate.public_bytes(Encoding.PEM))
        server = issue(authority, self.name, hosts=hosts, addresses=[LOOPBACK])
        server.write(self.server_certificate, self.server_key)
        issue(authority, f"{self.name}-client").write(self.client_certificate, self.client_key)

    def build_client_context(self) -> ssl.SSLContext:
        """Build the TLS context of a client, which trusts this server alone."""
        context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=str(self.authority))
        context.load_cert_chain(self.client_certificate, self.client_key)
        return context

    def build_server_context(self) -> ssl.SSLContext:
        """Build the TLS context of the server; a client without a certificate of this authority is refused."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(self.authority))
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(self.server_certificate, self.server_key)
        return context

    def _locate(self, part: str, suffix: str) -> Path:
        return self.folder / f"{self.name}{part}{suffix}"
