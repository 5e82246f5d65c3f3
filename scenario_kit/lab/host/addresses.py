"""Free ports, and the non-loopback address of this machine."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import socket
import struct
from collections.abc import Collection

from scenario_kit.errors import LabError

LOOPBACK = "127.0.0.1"
#: Loopback's broadcast address: a server may listen there, but no client may connect (RFC 1122, 4.2.3.10).
UNREACHABLE = "127.255.255.255"
HOST_VARIABLE = "SCENARIO_KIT_HOST_ADDRESS"
#: Below the kernel's range of ephemeral ports, so that outgoing connections do not take them.
_PORTS = range(20000, 32000)
_SIOCGIFADDR = 0x8915


def find_free_ports(count: int, taken: Collection[int] = (), address: str = LOOPBACK) -> list[int]:
    """Find ``count`` free ports of ``address`` that are not in ``taken``."""
    found: list[int] = []
    candidates = random.sample(_PORTS, len(_PORTS))
    for port in candidates:
        if len(found) == count:
            return found
        if port not in taken and is_free(port, address):
            found.append(port)
    raise LabError(f"there are no {count} free ports between {_PORTS.start} and {_PORTS.stop} on {address}")


def is_free(port: int, address: str = LOOPBACK) -> bool:
    """Return whether a server could listen there now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise LabError(f"cannot listen on {address}:{port}: {error}") from error
    return True


def find_host_address() -> str:
    """Find the first IPv4 address of this machine that is neither loopback nor link-local.

    The chaos daemon listens there: Kubernetes rejects other addresses in its EndpointSlice.

    Raises:
        LabError: there is none.
    """
    explicit = os.environ.get(HOST_VARIABLE)
    if explicit:
        return explicit
    for _, name in socket.if_nameindex():
        address = _read_interface_address(name)
        if address and not address.startswith(("127.", "169.254.")):
            return address
    raise LabError(
        "this machine has no IPv4 address other than loopback, and the chaos daemon needs one",
        fix=f"add one (ip address add 10.254.254.1/32 dev lo), or set {HOST_VARIABLE}",
    )


def _read_interface_address(name: str) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("256s", name.encode()[:15])
        try:
            answer = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)
        except OSError:
            return ""  # an interface without an IPv4 address
    return socket.inet_ntoa(answer[20:24])
