"""How long clients wait for a connection that gets no answer (docs/fidelity.md, "Connect timeouts")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenario_kit.lab.twin.network.traffic_shaping import CONNECT_SECONDS
from scenario_kit.model.twin.edge import Edge

#: The limit of gRPC's core and Go libraries for an attempt to connect: the minimum of their back-off.
_GRPC_SECONDS: Final = 20.0
#: That of gRPC's library by language; those without an entry leave it to the kernel.
_GRPC: Final[Mapping[str, float]] = {
    "cpp": _GRPC_SECONDS,
    "go": _GRPC_SECONDS,
    "java": 30.0,
    "python": _GRPC_SECONDS,
}
#: How long gRPC's Go library waits for the addresses of a name; others wait for the resolver, which takes less.
CHANNEL_RESOLVE_SECONDS: Final = 30.0
_KERNEL: Final = frozenset({"dotnet", "node", "rust"})


def find_channel_timeout(edge: Edge, dialect: str) -> float:
    """Return the seconds after which an attempt of a gRPC channel to connect fails."""
    if edge.connect_timeout_seconds > 0.0:
        return edge.connect_timeout_seconds
    return CONNECT_SECONDS if dialect in _KERNEL else _GRPC.get(dialect, _GRPC_SECONDS)
