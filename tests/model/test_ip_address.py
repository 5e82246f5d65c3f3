"""Addresses and names."""

from __future__ import annotations

import pytest

from scenario_kit.model.kubernetes.ip_address import is_ip_address


@pytest.mark.parametrize(
    ("host", "expected"),
    [("10.0.0.1", True), ("fd00::1", True), ("cart", False), ("10.0.0", False), ("10.0.0.1/8", False), ("", False)],
)
def test_addresses_are_told_from_names(host: str, expected: bool) -> None:
    assert is_ip_address(host) is expected
