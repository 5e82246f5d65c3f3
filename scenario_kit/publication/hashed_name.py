"""Names under which held-out scenarios go out: keyed hashes, which nobody without the key can derive from a name."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Final

_PREFIX: Final = "held-out-"
#: 64 bits of HMAC-SHA-256 (RFC 2104): two of a million names are the same with a chance of 3e-8.
_DIGITS: Final = 16
_HASHED: Final = re.compile(rf"{_PREFIX}[0-9a-f]{{{_DIGITS}}}")


def compute_keyed_hash(key: bytes, *parts: str) -> str:
    """Compute the HMAC-SHA-256 of some texts, in hexadecimal digits."""
    return hmac.new(key, "\0".join(parts).encode(), hashlib.sha256).hexdigest()


def build_hashed_name(key: bytes, name: str) -> str:
    """Build the name under which a held-out scenario goes out; it is a name of a scenario, too."""
    return _PREFIX + compute_keyed_hash(key, "name", name)[:_DIGITS]


def is_hashed_name(name: str) -> bool:
    """Return whether a scenario bears such a name, so that its truth may not go out."""
    return _HASHED.fullmatch(name) is not None
