"""Quantities as the API server reads them."""

from __future__ import annotations

import pytest

from scenario_kit.model.kubernetes.quantity import is_same_quantity, parse_quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [("250m", 0.25), ("3m", 0.003), ("1", 1), (2, 2), (0.5, 0.5), ("64Mi", 67108864), ("1Gi", 2**30), ("1k", 1000),
     ("1.5G", 1.5e9), ("1e3", 1000), ("1E3", 1000), ("2E", 2e18), ("12e-1", 1.2), (".5", 0.5), ("-1", -1),
     ("100n", 1e-7), ("7u", 7e-6), ("1Ki", 1024)],
)  # fmt: skip
def test_quantities(text: str | int | float, value: float) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", ["", "m", "1mi", "1 Gi", "x", "1Kib", "NaN"])
def test_no_quantities(text: str) -> None:
    with pytest.raises(ValueError, match="is not a resource quantity"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [("64000m", "64", True), ("1024Mi", "1Gi", True), ("1Gi", "1G", False), ("250m", "0.25", True),
     ("1.10", "1.1", False), ("1", "1.0", False), ("web", "1", False), ("5m", "", False)],
)  # fmt: skip
def test_equal_quantities_in_different_units(one: str, other: str, alike: bool) -> None:
    assert is_same_quantity(one, other) is is_same_quantity(other, one) is alike
