"""Plain scalars as parsed by kubectl; expected values from `kubectl create --dry-run=client -o json`."""

import pytest

from scenario_kit.load.yaml.scalars import parse_scalar
from scenario_kit.load.yaml.yaml11 import explain_yaml11


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("on", "true"),
        ("Yes", "true"),
        ("y", "true"),
        ("OFF", "false"),
        ("no", "false"),
        ("N", "false"),
        ("oN", ""),
        ("only", ""),
        ("true", ""),
        ("012", "10"),
        ("0644", "420"),
        ("09", ""),
        ("1_000", "1000"),
        ("1_0.5", "10.5"),
        ("0x1F", "31"),
        ("-0x1F", "-31"),
        ("0b11", "3"),
        ("0o14", "12"),
        (".inf", "a number that JSON cannot represent"),
        (".NaN", "a number that JSON cannot represent"),
        ("1e3", ""),
        ("6e097", ""),
        ("1e400", ""),
        ("+12", ""),
        ("-0", ""),
        ("1:30", ""),
        ("2020-01-01", ""),
        ("2.2.0", ""),
        ("64Mi", ""),
        ("0777Mi", ""),
        ("9" * 22, ""),
        ("0x" + "f" * 17, ""),
        ("9" * 10_000, ""),
        ("", ""),
    ],
)  # fmt: skip
def test_yaml11_value_is_explained(text, there):
    assert explain_yaml11(text, parse_scalar(text)) == there
