"""Service discovery for the manager: the daemon's EndpointSlice (named ``chaos-daemon-…``) and the DNS server's pod."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from scenario_kit.model import Object

#: The server name in the daemon's certificate that the manager verifies.
SERVER_NAME: Final = "chaos-daemon.chaos-mesh.org"
#: The Service of the DNS server in the Chaos Mesh chart.
NAME_SERVICE: Final = "chaos-mesh-dns-server"


def build_endpoint_slice(
    nodes: Iterable[str], address: str, port: int, *, namespace: str = "chaos-mesh", without: Iterable[str] = ()
) -> Object:
    """Build the EndpointSlice that puts one daemon at ``address:port`` behind every node.

    ``address`` is an IPv4 address of this machine, not loopback or link-local, which the API rejects. Nodes in
    ``without`` get no endpoint, as if the daemon were missing there. The manager takes the first endpoint of the pod's
    node, ignores readiness, and takes the port from its own configuration.
    """
    missing = set(without)
    suffix = hashlib.sha256(f"{address}:{port}".encode()).hexdigest()[:5]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": f"chaos-daemon-{suffix}", "namespace": namespace},
        "addressType": "IPv4",
        "ports": [{"name": "grpc", "protocol": "TCP", "port": port}],
        "endpoints": [
            {"addresses": [address], "nodeName": node, "conditions": {"ready": True}}
            for node in sorted(set(nodes) - missing)
        ],
    }
