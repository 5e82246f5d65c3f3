"""Resource quantities that an object may leave out."""

from __future__ import annotations

from scenario_kit.model.kubernetes import quantity as quantities


def parse_quantity(quantity: str | int | float | None) -> float | None:
    """Parse the value of a quantity such as ``150m``, ``64Mi`` or ``2``; None for no quantity.

    Raises:
        ValueError: not a quantity. The API server refuses such objects, so here it is a bug.
    """
    return None if quantity is None or quantity == "" else quantities.parse_quantity(quantity)
