"""Access to the traces of a world: the address contains a key, which makes it impossible to guess.

The key of one world opens no other: clients such as Grafana take an address and nothing else.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

_CHARACTERS: Final = 32


def build_traces_path(server_token: str, namespace: str) -> str:
    """Build the path of a world's traces on the lab server, from the server's token."""
    return f"/worlds/{namespace}/{_derive_key(server_token, namespace)}"


def is_traces_key(key: str, server_token: str, namespace: str) -> bool:
    """Return whether a key opens the traces of a world; compares in constant time."""
    return hmac.compare_digest(key.encode(), _derive_key(server_token, namespace).encode())


def _derive_key(server_token: str, namespace: str) -> str:
    message = f"traces of {namespace}".encode()
    return hmac.new(server_token.encode(), message, hashlib.sha256).hexdigest()[:_CHARACTERS]
