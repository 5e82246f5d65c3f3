"""Asking a port of a pod through the API server: HTTP through its proxy, TCP through a forwarded port."""

from __future__ import annotations

import select
from typing import Any, Final

from scenario_kit.clients.transport import Transport
from scenario_kit.model import Reference
from scenario_kit.ports import Probed

#: How long the kubelet may take to say that nobody listens, in seconds. It dials as soon as the way to it is open.
REFUSAL_SECONDS: Final = 2.0
#: Statuses with which the API server says that the proxied request went wrong, not the program.
_PROXY: Final = (502, 503, 504)


def probe_http(transport: Transport, pod_path: str, port: int, path: str) -> Probed:
    """Return a GET through the proxy of the API server.

    Raises:
        ClusterError: the API server does not answer, or refuses to proxy; ``NotFound`` where the pod does not exist.
    """
    status, refusal, message = transport.get_proxied(f"{pod_path}:{port}/proxy{path}")
    if refusal is None:
        return Probed(True, status)
    if status in _PROXY:
        return Probed(False, None, message[:300])
    raise refusal


def probe_tcp(transport: Transport, pod: Reference, port: int) -> Probed:
    """Return a connection through the kubelet, which dials the port from within the pod.

    Raises:
        ClusterError: no port can be forwarded; ``NotFound`` where the pod does not exist.
    """
    forward = transport.official.forward_port(pod, port)
    try:
        return read_forward(forward, port)
    finally:
        forward.close()


def read_forward(forward: Any, port: int) -> Probed:
    """Read what became of a forwarded port: the kubelet tells a refusal at once, and says nothing of a connection."""
    socket = forward.socket(port)
    select.select([socket], [], [], REFUSAL_SECONDS)
    problem = forward.error(port)
    return Probed(False, None, str(problem)[:300]) if problem else Probed(True, None, "accepts connections")
