"""The keys of a lab's cluster, where kwokctl looks for them."""

from __future__ import annotations

from pathlib import Path

from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.lab.host.addresses import LOOPBACK

#: The address of the Service ``kubernetes``, the first one of its range: so pods reach the API server.
_SERVICE_ADDRESS = "10.96.0.1"


def write_cluster_keys(folder: Path) -> None:
    """Write the cluster's keys where kwokctl looks before it creates its own: the CA and the administrator's pair.

    That pair is also the API server's certificate and the signing key of service accounts.
    """
    folder.mkdir(parents=True, mode=0o700)
    authority = Authority.create("kubernetes")
    authority.encode().write(folder / "ca.crt", folder / "ca.key")
    service = "kubernetes.default"
    names = ["localhost", "kubernetes", service, f"{service}.svc", f"{service}.svc.cluster.local"]
    addresses = [LOOPBACK, _SERVICE_ADDRESS]
    pair = issue(authority, "kubernetes-admin", groups=["system:masters"], hosts=names, addresses=addresses)
    pair.write(folder / "admin.crt", folder / "admin.key")
