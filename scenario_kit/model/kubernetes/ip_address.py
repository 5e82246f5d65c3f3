"""Tell addresses from names. Pure."""

from __future__ import annotations

import ipaddress


def is_ip_address(host: object) -> bool:
    """Return whether a host is an IP address, which nobody resolves."""
    try:
        ipaddress.ip_address(str(host))
    except ValueError:
        return False
    return True
