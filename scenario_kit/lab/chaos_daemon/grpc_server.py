"""Listening sockets for the lab's gRPC servers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import grpc

from scenario_kit.errors import LabError


class Listening(NamedTuple):
    """A started server and its port."""

    server: Any
    port: int


def listen(
    name: str, service: Any, address: str, port: int, *, threads: int, credentials: Any | None = None
) -> Listening:
    """Serve ``service`` with a thread pool; no TLS without ``credentials``, any free port for port 0.

    Raises:
        LabError: the address cannot be bound, or a certificate is invalid.
    """
    workers = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=name.replace(" ", "-"))
    # Without this, a second lab could share the port and receive some of the calls.
    server = grpc.server(workers, handlers=[service], options=[("grpc.so_reuseport", 0)])
    where = f"{address}:{port}"
    try:
        bound = server.add_insecure_port(where) if credentials is None else server.add_secure_port(where, credentials)
    except RuntimeError as error:
        fix = "stop the process that listens there, or choose another port"
        raise LabError(f"{name}: {where} cannot be bound: {error}", fix=fix) from error
    server.start()
    return Listening(server, int(bound))
