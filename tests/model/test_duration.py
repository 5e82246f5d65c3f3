"""Durations as Go reads them."""

from __future__ import annotations

import pytest

from scenario_kit.model.kubernetes.duration import UNITS, parse_seconds


@pytest.mark.parametrize(
    ("text", "value"),
    [("", 0), ("0", 0), ("250ms", 0.25), ("1m30s", 90), ("1m1.5s", 61.5), ("0.5s", 0.5), (".5s", 0.5), ("1.5h", 5400),
     ("1h2m", 3720), ("2000us", 0.002), ("7µs", 7e-6), ("7μs", 7e-6), ("9ns", 9e-9)],
)  # fmt: skip
def test_durations(text: str, value: float) -> None:
    assert parse_seconds(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["-1s", "1", "1d", "ms", "1s x", "1 s", "s1", "1x"])
def test_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_seconds(text)


def test_some_have_longer_units() -> None:
    assert parse_seconds("1d12h", {**UNITS, "d": 86400.0}) == 129600
