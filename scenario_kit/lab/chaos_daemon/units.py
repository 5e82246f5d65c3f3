"""Rates in the notation of Chaos Mesh and tc(8)."""

from __future__ import annotations

import re

_RATE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgt]?)(i?)(bit|bps))?", re.IGNORECASE)


def parse_rate(text: str) -> float:
    """Parse a rate in the notation of tc(8), in bytes per second; empty text is zero.

    ``bit`` is bits, ``bps`` *bytes* per second; ``k``, ``m``, ``g``, ``t`` are powers of 1000, with an ``i`` powers of
    1024; a number without unit is bits per second.

    Raises:
        ValueError: not a rate.
    """
    if not text:
        return 0.0
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a rate, expected for example 1mbit (bits) or 128kbps (bytes)")
    number, prefix, binary, unit = match.groups()
    base = 1024.0 if binary else 1000.0
    power = " kmgt".index(prefix.lower()) if prefix else 0
    return float(number) * base**power / (1 if (unit or "").lower() == "bps" else 8)
