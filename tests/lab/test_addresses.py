"""The listen address of parts that must be unreachable from outside."""

import socket

import pytest

from scenario_kit.lab.host.addresses import LOOPBACK, UNREACHABLE


@pytest.mark.parametrize("address", [UNREACHABLE, LOOPBACK, "127.0.0.2", "localhost"])
def test_broadcast_address_is_unreachable(address: str) -> None:
    with socket.socket() as server:
        server.bind((UNREACHABLE, 0))
        server.listen()
        with pytest.raises(OSError, match=r"unreachable|refused|denied"):
            socket.create_connection((address, server.getsockname()[1]), timeout=5)
