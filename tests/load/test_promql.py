"""Expressions within bounds, and of how much they ask."""

from __future__ import annotations

import pytest

from scenario_kit.load.promql.parser import MOST_LEVELS, MOST_TOKENS, parse_expression, points, walk


@pytest.mark.parametrize(
    ("expr", "reported"),
    [
        ("sum(up", "unclosed"), ("", "no expression"), ("(" * 200 + "up" + ")" * 200, f"deeper than {MOST_LEVELS}"),
        ("-" * 300 + "up", f"deeper than {MOST_LEVELS}"), ("up" + " - up" * 200, f"deeper than {MOST_LEVELS}"),
        ("up" + " or up" * 20_000, f"may have {MOST_TOKENS}"), ("abs(" * 20_000 + "up" + ")" * 20_000, "may have"),
    ],
)  # fmt: skip
def test_refused(expr: str, reported: str) -> None:
    for _ in range(2):  # the second time, from what is kept
        with pytest.raises(ValueError, match=reported):
            parse_expression(expr)


def test_walk_yields_nodes_in_text_order() -> None:
    tree = parse_expression("sum(rate(a[5m])) / on (x) (topk(3, b) + max_over_time(c[5m:15s]))")

    assert [n.name for n in walk(tree) if type(n).__name__ == "VectorSelector"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("up", 1), ("up[1m]", 4), ("rate(up[1s])", 1), ("max_over_time(up[10m:1m])", 10), ("up offset 1y", 1),
        ("max_over_time(up[10m:])", 10), ("max_over_time(rate(up[1m])[10m:1m])", 40),
        ("rate(a[1m]) + rate(b[10m])", 40), ("max_over_time(up[100y:1s])", 3_153_600_000),
    ],
)  # fmt: skip
def test_points(expr: str, expected: int) -> None:
    assert points(expr) == expected
