"""Probes of a pod's port through the API server: HTTP by proxy, TCP by port forwarding."""

from __future__ import annotations

import select
from typing import Any, Final

from scenario_kit.clients.transport import Transport
from scenario_kit.model import Reference
from scenario_kit.ports import Probed

#: The timeout in seconds for the kubelet to report a refused connection. It dials as soon as the stream is open.
REFUSAL_SECONDS: Final = 2.0
#: Statuses by which the API server reports a failed proxy request.
_PROXY: Final = (502, 503, 504)


def probe_http(transport: Transport, pod_path: str, port: int, path: str) -> Probed:
    """Send a GET through the API server's proxy.

    Raises:
        ClusterError: the API server does not respond, or refuses to proxy; ``NotFound`` if the pod does not exist.
    """
    status, refusal, message = transport.get_proxied(f"{pod_path}:{port}/proxy{path}")
    if refusal is None:
        return Probed(True, status)
    if status in _PROXY:
        return Probed(False, None, message[:300])
    raise refusal


def probe_tcp(transport: Transport, pod: Reference, port: int) -> Probed:
    """Connect through the kubelet, which dials the port within the pod.

    Raises:
        ClusterError: the port cannot be forwarded; ``NotFound`` if the pod does not exist.
    """
    forward = transport.official.forward_port(pod, port)
    try:
        return read_forward(forward, port)
    finally:
        forward.close()


def read_forward(forward: Any, port: int) -> Probed:
    """Return the result of a forwarded port: the kubelet reports a refusal at once, and an open connection never."""
    socket = forward.socket(port)
    select.select([socket], [], [], REFUSAL_SECONDS)
    problem = forward.error(port)
    return Probed(False, None, str(problem)[:300]) if problem else Probed(True, None, "accepts connections")
