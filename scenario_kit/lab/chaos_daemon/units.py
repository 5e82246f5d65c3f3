"""Durations and rates as authors of chaos write them, and as Chaos Mesh hands them on."""

from __future__ import annotations

import re

_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_RATE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgt]?)(i?)(bit|bps))?", re.IGNORECASE)


def seconds(text: str) -> float:
    """A duration in Go's notation (``250ms``, ``1m30s``) in seconds; an empty text is zero.

    Raises:
        ValueError: it is no duration, or negative.
    """
    if text in ("", "0"):
        return 0.0
    total, end = 0.0, 0
    for match in _DURATION.finditer(text):
        if match.start() != end:
            break
        total += float(match.group(1)) * _SECONDS[match.group(2)]
        end = match.end()
    if end != len(text):
        raise ValueError(f"{text!r} is no duration, expected one like 250ms or 1m30s")
    return total


def bytes_per_second(text: str) -> float:
    """A rate in the notation of tc(8) in bytes per second; an empty text is zero.

    ``bit`` counts bits, ``bps`` *bytes* per second; ``k``, ``m``, ``g``, ``t`` are powers of 1000, with an ``i`` powers
    of 1024; a bare number is bits per second.

    Raises:
        ValueError: it is no rate.
    """
    if not text:
        return 0.0
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no rate, expected one like 1mbit (bits) or 128kbps (bytes)")
    number, prefix, binary, unit = match.groups()
    base = 1024.0 if binary else 1000.0
    power = " kmgt".index(prefix.lower()) if prefix else 0
    return float(number) * base**power / (1 if (unit or "").lower() == "bps" else 8)
