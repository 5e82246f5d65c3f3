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
#: How long gRPC's libraries wait for the addresses of a name: Go's has a limit, and the core has a resolver of its own,
#: c-ares, whatever the C library. Others wait for the resolver.
_RESOLVE: Final[Mapping[str, float]] = {"cpp": 14.0, "go": 30.0, "python": 14.0, "ruby": 14.0}
_KERNEL: Final = frozenset({"dotnet", "node", "rust"})


def find_channel_timeout(edge: Edge, dialect: str) -> float:
    """Return the seconds after which an attempt of a gRPC channel to connect fails."""
    if edge.connect_timeout_seconds > 0.0:
        return edge.connect_timeout_seconds
    return CONNECT_SECONDS if dialect in _KERNEL else _GRPC.get(dialect, _GRPC_SECONDS)


def find_channel_resolve_timeout(dialect: str, resolve_seconds: float) -> float:
    """Return the seconds after which a gRPC channel has no address, where its program's resolver takes this long."""
    if dialect == "go":
        return min(resolve_seconds, _RESOLVE[dialect])
    return _RESOLVE.get(dialect, resolve_seconds)
