"""Kubernetes quantities (``250m``, ``64Mi``), in the grammar of apimachinery's resource.Quantity."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

MEBIBYTE: Final = 1 << 20

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)")
_FACTORS = {
    **{suffix: Decimal(f"1e{3 * (power - 3)}") for power, suffix in enumerate(("n", "u", "m", "", *"kMGTPE"))},
    **{f"{suffix}i": Decimal(2 ** (10 * power)) for power, suffix in enumerate("KMGTPE", 1)},
}


@lru_cache(maxsize=4096)
def parse_quantity(value: str | int | float) -> float:
    """Return the number of a quantity: ``250m`` is 0.25, ``64Mi`` 67108864.

    Raises:
        ValueError: invalid; the API server never stores such a quantity.
    """
    return float(parse_exact(value))


def parse_exact(value: str | int | float) -> Decimal:
    """Return the exact number of a quantity, for sums that are compared. Raises as ``parse_quantity``."""
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        raise ValueError(f"{value!r} is not a resource quantity such as 250m or 64Mi")
    digits, exponent, suffix = match.groups()
    return Decimal(digits + (exponent or "")) * _FACTORS[suffix or ""]


def is_same_quantity(one: object, other: object) -> bool:
    """Return whether two values are equal, or equal quantities: the API server stores ``1000m`` as ``1``.

    One of them must have a unit: ``1.10`` and ``1.1`` may be versions.
    """
    if not (isinstance(one, str) and isinstance(other, str)) or one == other:
        return one == other
    found = [_QUANTITY.fullmatch(text) for text in (one, other)]
    return all(found) and any(match and match[3] for match in found) and parse_quantity(one) == parse_quantity(other)
