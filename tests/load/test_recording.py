"""Recording rules are written out where an alert uses them."""

from __future__ import annotations

import pytest

from scenario_kit.errors import AuthoringError
from scenario_kit.load.promql.recording import build_recorded_expression, inline


@pytest.mark.parametrize(
    ("expr", "recorded", "inlined"),
    [
        ("a > 1", {}, "a > 1"),
        ("job:x > 1", {"job:x": "sum(x)"}, "(sum(x)) > 1"),
        ("job:x{} - job:x", {"job:x": "x / y"}, "(x / y) - (x / y)"),
        ("max(a)", {"a": "b + 1", "b": "c"}, "max(((c) + 1))"),
        ("rate(a[5m])", {"a": "sum(b)"}, "rate((sum(b))[5m:15s])"),
        ("avg_over_time(a[1h:1m] offset 5m) > a", {"a": "b"}, "avg_over_time((b)[1h:1m] offset 5m) > (b)"),
    ],
)
def test_inline(expr: str, recorded: dict[str, str], inlined: str) -> None:
    assert inline(expr, recorded) == inlined


@pytest.mark.parametrize(
    ("expr", "recorded", "words"),
    [
        ("a", {"a": "b", "b": "a"}, "a -> b -> a"),
        ('a{x="y"}', {"a": "b"}, "labels"),
        ("a offset 5m", {"a": "b"}, "offset"),
    ],
)
def test_invalid_recording_rule_is_refused(expr: str, recorded: dict[str, str], words: str) -> None:
    with pytest.raises(AuthoringError, match=words):
        inline(expr, recorded)


def test_recording_rule_labels_are_added_to_its_series() -> None:
    labelled = build_recorded_expression("sum(a)", {"team": "shop $1"})
    assert labelled == 'label_replace(sum(a), "team", "shop $$1", "", "")'
