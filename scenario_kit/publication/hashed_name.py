"""Published names of held-out scenarios: keyed hashes that cannot be derived without the key."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Final

_PREFIX: Final = "held-out-"
#: 64 bits of HMAC-SHA-256 (RFC 2104): a million names collide with a probability of 3e-8.
_DIGITS: Final = 16
_HASHED: Final = re.compile(rf"{_PREFIX}[0-9a-f]{{{_DIGITS}}}")


def compute_keyed_hash(key: bytes, *parts: str) -> str:
    """Compute the HMAC-SHA-256 of NUL-separated parts, in hexadecimal."""
    return hmac.new(key, "\0".join(parts).encode(), hashlib.sha256).hexdigest()


def build_hashed_name(key: bytes, name: str) -> str:
    """Build the published name of a held-out scenario, itself a valid scenario name."""
    return _PREFIX + compute_keyed_hash(key, "name", name)[:_DIGITS]


def is_hashed_name(name: str) -> bool:
    """Return whether a scenario name is a held-out one's, whose truth must not be published."""
    return _HASHED.fullmatch(name) is not None
