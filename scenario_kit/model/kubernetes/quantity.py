"""Kubernetes quantities (``250m``, ``64Mi``), in the grammar of apimachinery's resource.Quantity."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

MEBIBYTE: Final = 1 << 20

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)")
_FACTORS = {
    "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
}  # fmt: skip


@lru_cache(maxsize=4096)
def parse_quantity(value: str | int | float) -> float:
    """Return the number of a quantity: ``250m`` is 0.25, ``64Mi`` 67108864.

    Raises:
        ValueError: invalid; the API server never stores such a quantity.
    """
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        raise ValueError(f"{value!r} is not a resource quantity such as 250m or 64Mi")
    digits, exponent, suffix = match.groups()
    if exponent:
        return float(digits + exponent)
    # Divide for small units: 250 / 1000 is exactly 0.25, but 3 * 1e-3 is not 0.003.
    factor = _FACTORS[suffix or ""]
    return float(digits) / round(1 / factor) if factor < 1 else float(digits) * factor


def is_same_quantity(one: object, other: object) -> bool:
    """Return whether two values are equal, or equal quantities: the API server stores ``1000m`` as ``1``.

    One of them must have a unit: ``1.10`` and ``1.1`` may be versions.
    """
    if not (isinstance(one, str) and isinstance(other, str)) or one == other:
        return one == other
    found = [_QUANTITY.fullmatch(text) for text in (one, other)]
    return all(found) and any(match and match[3] for match in found) and parse_quantity(one) == parse_quantity(other)
