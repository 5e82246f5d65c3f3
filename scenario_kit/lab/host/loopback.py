"""Plain HTTP to the parts of a lab, which are on this machine."""

from __future__ import annotations

import ssl
from typing import Any

import httpx

#: Trusts nobody. The default reads all authorities of the system, for servers that are never asked: 20 ms per client,
#: and some megabytes.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def create_client(**options: Any) -> httpx.Client:
    """Create a client for ``http`` addresses; a proxy of the environment must not get in between."""
    return httpx.Client(verify=_NO_TLS, trust_env=False, **options)
