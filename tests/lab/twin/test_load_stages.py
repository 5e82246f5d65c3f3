"""How load changes over time."""

import pytest

from scenario_kit.lab.twin.numeric.load_stages import find_share

SURGE = "100:600 160:0 160:180 100:0 100:420"
RAMP = "60:0 140:900 60:900"


@pytest.mark.parametrize(
    ("text", "seconds", "expected"),
    [
        ("", 100, 1.0),
        ("100:3600", 5000, 1.0),
        (SURGE, 0, 1.0),
        (SURGE, 599, 1.0),
        (SURGE, 600, 1.6),
        (SURGE, 779, 1.6),
        (SURGE, 780, 1.0),
        (SURGE, 1200 + 700, 1.6),
        (RAMP, 0, 0.6),
        (RAMP, 450, 1.0),
        (RAMP, 900, 1.4),
        (RAMP, 1350, 1.0),
        (RAMP, 1800 + 450, 1.0),
        ("200:100", 50, 1.5),
        (RAMP, -5, 0.6),
        ("nonsense", 7, 1.0),
        ("100", 7, 1.0),
        ("100:0", 7, 1.0),
        ("-5:10", 7, 1.0),
    ],
)
def test_share_of_the_usual_load(text: str, seconds: float, expected: float) -> None:
    assert find_share(text, seconds) == pytest.approx(expected, abs=0.002)
