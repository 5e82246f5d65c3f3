"""How the manager finds the daemon (an EndpointSlice whose name starts with ``chaos-daemon-``) and the name server."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from scenario_kit.model import Object

#: The name that the manager expects in the daemon's certificate.
SERVER_NAME: Final = "chaos-daemon.chaos-mesh.org"
#: The Service by which the manager finds the name server, as the chart of Chaos Mesh has it.
NAME_SERVICE: Final = "chaos-mesh-dns-server"


def build_endpoint_slice(
    nodes: Iterable[str], address: str, port: int, *, namespace: str = "chaos-mesh", without: Iterable[str] = ()
) -> Object:
    """Build the EndpointSlice that puts one daemon at ``address:port`` behind every node.

    ``address`` is an IPv4 address of this machine other than loopback or link-local, which the API refuses. Nodes in
    ``without`` get no endpoint: the daemon is missing there. The manager takes the first endpoint of the pod's node and
    ignores readiness; it takes the port from its own configuration.
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
