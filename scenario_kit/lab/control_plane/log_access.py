"""Access to container logs of the simulated kubelet: only the API server, over mutual TLS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scenario_kit.lab.host.mutual_tls import MutualTls

#: The port, by its purpose.
PORT: Final = "kubelet"


def locate_kubelet_tls(pki: Path) -> MutualTls:
    """Locate the certificates of the kubelet, and of the API server as its client."""
    return MutualTls(pki, "kubelet")


def build_kubelet_flags(pki: Path) -> Mapping[str, str]:
    """Build the API server's flags for its kubelets."""
    tls = locate_kubelet_tls(pki)
    return {
        "kubelet-certificate-authority": str(tls.authority),
        "kubelet-client-certificate": str(tls.client_certificate),
        "kubelet-client-key": str(tls.client_key),
    }
