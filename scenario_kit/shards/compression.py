"""Decompression of what others may have written: never more than fits into memory."""

from __future__ import annotations

import zlib
from typing import Final

_MAX_BYTES: Final = 64 * 1024 * 1024
_GZIP: Final = 31  # zlib's number for gzip with its largest window


def decompress(data: bytes) -> bytes:
    """Decompress gzip.

    Raises:
        ValueError: it is incomplete, or larger than 64 MiB.
        zlib.error: it is damaged.
    """
    reader = zlib.decompressobj(wbits=_GZIP)
    result = reader.decompress(data, _MAX_BYTES)
    if not reader.eof:
        raise ValueError(f"it is incomplete, or has more than {_MAX_BYTES} bytes")
    return result
