"""Samples of imported rules: high or low by the side of a comparison on which a series stands."""

import re

import pytest

from scenario_kit.draft.yaml_format import dump_document
from scenario_kit.importers.formats.promrules import _arrange_lines
from scenario_kit.importers.formats.rule_cases import build_case

HIGH, BUSY, ZERO = "1000000x20", "0+9000x20", "0+0x20"


@pytest.mark.parametrize(
    ("expr", "samples"),
    [
        ("a > 5", {"a": HIGH}),
        ("a < 5", {"a": ZERO}),
        ("a == 0", {"a": "0+0x20"}),
        ("a == 1", {"a": "1+0x20"}),
        ("rate(a[2m]) > 5", {"a": BUSY}),
        ("changes(a[10m]) == 0", {"a": ZERO}),
        ('a{x="<"} > b', {"a": HIGH, "b": ZERO}),
        ("a != b", {"a": HIGH, "b": ZERO}),
        ("a < b", {"a": ZERO, "b": HIGH}),
        ("a == b", {"a": HIGH, "b": HIGH}),
        ("(a\n-\nb) > 0", {"a": HIGH, "b": ZERO}),
        ("a >= b - c", {"a": HIGH, "b": ZERO, "c": HIGH}),
        ("a / b < 0.03 and c > 0", {"a": ZERO, "b": HIGH, "c": HIGH}),
        ("a / b * 100 > 90", {"a": HIGH, "b": HIGH}),
        ("a > 1 unless on (x) b == 1", {"a": HIGH}),
        ("absent(a)", {"another_series": "1x20"}),
    ],
)
def test_samples_satisfy_the_comparison(expr: str, samples: dict[str, str]) -> None:
    case = build_case({"alert": "A", "expr": expr}, 0)
    assert {re.match(r"\w+", each["series"])[0]: each["values"] for each in case["series"]} == samples  # type: ignore[index]


def test_labels_that_must_not_be_empty_have_a_value() -> None:
    case = build_case({"alert": "A", "expr": 'a{container!="", pod!~"x.*"} / on (container) b > 5'}, 0)
    assert all('container="x"' in each["series"] for each in case["series"])


@pytest.mark.parametrize(
    ("expr", "written"), [("a \n  >\n5\n", "expr: |-\n  a\n    >\n  5\n"), ("a > 5\n", "expr: a > 5\n")]
)
def test_expressions_keep_their_lines(expr: str, written: str) -> None:
    text = dump_document({"expr": _arrange_lines(expr), "for": ["1m"]})
    assert text.startswith(written)
