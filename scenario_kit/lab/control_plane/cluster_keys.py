"""The keys of a lab's cluster, where kwokctl looks for them."""

from __future__ import annotations

from pathlib import Path

from scenario_kit.clients.certificates import Authority, issue


def write_cluster_keys(folder: Path) -> None:
    """Write the cluster's keys where kwokctl looks before it creates its own: the CA and the administrator's pair.

    That pair is also the API server's certificate and the signing key of service accounts.
    """
    folder.mkdir(parents=True, mode=0o700)
    authority = Authority.create("kubernetes")
    authority.encode().write(folder / "ca.crt", folder / "ca.key")
    names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc.cluster.local"]
    pair = issue(authority, "kubernetes-admin", groups=["system:masters"], hosts=names, addresses=["127.0.0.1"])
    pair.write(folder / "admin.crt", folder / "admin.key")
