"""Durations in Go's notation (``250ms``, ``1m30s``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

#: Seconds of each unit.
UNITS: Final[Mapping[str, float]] = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0,
}  # fmt: skip
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([a-zµμ]+)")


def parse_seconds(text: str, units: Mapping[str, float] = UNITS) -> float:
    """Parse a duration into seconds; an empty text is zero.

    Args:
        text: the duration.
        units: seconds of each unit, by default Go's.

    Raises:
        ValueError: invalid or negative.
    """
    if text in ("", "0"):
        return 0.0
    parts = _PART.findall(text)
    if "".join(number + unit for number, unit in parts) != text or not {unit for _, unit in parts} <= units.keys():
        raise ValueError(f"{text!r} is not a duration such as 250ms or 1m30s")
    return sum(float(number) * units[unit] for number, unit in parts)
