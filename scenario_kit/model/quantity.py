"""Kubernetes quantities (``250m``, ``64Mi``) as numbers; the grammar of apimachinery's resource.Quantity."""

from __future__ import annotations

import re
from typing import Final

_SUFFIX: Final = {
    "": 1.0,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
    "Ei": 2.0**60,
}
_QUANTITY: Final = re.compile(r"^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]{0,2})$")


def number(text: str | int | float) -> float:
    """The value of a quantity.

    Raises:
        ValueError: it is none.
    """
    match = _QUANTITY.match(str(text).strip())
    if not match or match[2] not in _SUFFIX:
        raise ValueError(f"'{text}' is not a quantity; expected e.g. 250m, 1.5, 64Mi")
    return float(match[1]) * _SUFFIX[match[2]]


def cpu_cores(text: str | int | float) -> float:
    """A CPU quantity in cores."""
    return number(text)


def memory_bytes(text: str | int | float) -> float:
    """A memory quantity in bytes."""
    return number(text)
