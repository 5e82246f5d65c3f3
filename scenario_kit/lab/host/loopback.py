"""HTTP clients for the components of a lab on this machine."""

from __future__ import annotations

import ssl
from typing import Any

import httpx

#: Trusts no CA. The default loads all CAs of the system, which no server here needs: 20 ms and some megabytes per
#: client.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def create_client(tls: ssl.SSLContext | None = None, **options: Any) -> httpx.Client:
    """Create a client that ignores proxies of the environment; without ``tls``, for ``http`` addresses alone."""
    return httpx.Client(verify=tls or _NO_TLS, trust_env=False, **options)
