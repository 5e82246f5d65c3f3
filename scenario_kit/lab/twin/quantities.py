"""Resource quantities of Kubernetes as plain numbers."""

from __future__ import annotations

_SUFFIX = {
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50,
    "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
}  # fmt: skip


def number(quantity: str | int | float | None) -> float | None:
    """The value of a quantity such as ``150m``, ``64Mi`` or ``2``; None for no quantity.

    Raises:
        ValueError: not a quantity. The API server refuses such objects, so here it is a bug.
    """
    if quantity is None or quantity == "":
        return None
    text = str(quantity).strip()
    for suffix, factor in _SUFFIX.items():
        if text.endswith(suffix):
            return float(text[: -len(suffix)]) * factor
    return float(text)
