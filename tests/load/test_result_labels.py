"""Labels of the result of an expression."""

from __future__ import annotations

import pytest

from scenario_kit.load.promql.result_labels import find_result_labels


@pytest.mark.parametrize(
    ("expr", "labels"),
    [
        ("x", None),
        ("rate(x[5m])", None),
        ("sum(x)", ""),
        ("sum by (a, b) (x) > 1", "a b"),
        ("1 < sum by (a) (x)", "a"),
        ("time() - max by (a) (x) > 3 * 60", "a"),
        ("-(sum by (a) (x))", "a"),
        ("sum without (a) (x)", None),
        ("topk by (a) (1, x)", None),
        ("topk(3, sum by (a) (x))", "a"),
        ('count_values by (a) ("version", x)', None),
        ("max_over_time(sum by (a) (x)[10m:1m])", "a"),
        ("histogram_quantile(0.9, sum by (le, a) (rate(x[5m])))", "le a"),
        ("x / on (a) y", "a"),
        ("x / ignoring (a) y", None),
        ("sum by (a) (x) / sum by (a) (y)", "a"),
        ("x / sum by (a) (y)", "a"),
        ("x * on (a) group_left (z) y", None),
        ("sum by (a, b) (x) * on (a) group_left (z) y", "a b z"),
        ("y * on (a) group_right (z) sum by (a, b) (x)", "a b z"),
        ("sum by (a) (x) > 1 and on () y", "a"),
        ("sum by (a) (x) unless y", "a"),
        ("sum by (a) (x) or sum by (b) (y)", None),
        ('label_replace(sum by (a) (x), "b", "$1", "a", "(.*)")', None),
        ("absent(sum by (a) (x))", None),
    ],
)
def test_result_labels(expr: str, labels: str | None) -> None:
    assert find_result_labels(expr) == (None if labels is None else frozenset(labels.split()))


def test_invalid_expression_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"\S"):
        find_result_labels("sum by (")
