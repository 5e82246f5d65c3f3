"""Decompression of untrusted data, with a size limit."""

from __future__ import annotations

import zlib
from typing import Final

_MAX_BYTES: Final = 64 * 1024 * 1024
_GZIP: Final = 31  # zlib's number for gzip with its largest window


def decompress(data: bytes) -> bytes:
    """Decompress gzip.

    Raises:
        ValueError: the data is truncated, or larger than 64 MiB.
        zlib.error: the data is damaged.
    """
    reader = zlib.decompressobj(wbits=_GZIP)
    result = reader.decompress(data, _MAX_BYTES)
    if not reader.eof:
        raise ValueError(f"it is incomplete, or has more than {_MAX_BYTES} bytes")
    return result
