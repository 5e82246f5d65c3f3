"""Optional resource quantities."""

from __future__ import annotations

from scenario_kit.model.kubernetes import quantity as quantities


def parse_quantity(quantity: str | int | float | None) -> float | None:
    """Parse a quantity such as ``150m``, ``64Mi`` or ``2``; None for None.

    Raises:
        ValueError: not a quantity. The API server rejects such objects, so this is a bug.
    """
    return None if quantity is None or quantity == "" else quantities.parse_quantity(quantity)
