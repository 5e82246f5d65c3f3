"""Label selectors of list queries."""

from __future__ import annotations

import pytest

from scenario_kit.model.kubernetes.label_selector import admits, parse

LABELS = {"app": "cart", "app.kubernetes.io/name": "cart", "tier": "back"}


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("", True),
        ("app=cart", True),
        ("app==cart", True),
        ("app=ad", False),
        ("app.kubernetes.io/name=cart,tier=back", True),
        ("app=cart,tier=front", False),
        ("app!=cart", False),
        ("missing!=cart", True),
        ("tier in (back, front)", True),
        ("tier in (front),app=cart", False),
        ("tier notin (front)", True),
        ("missing notin (x)", True),
        ("tier", True),
        ("!tier", False),
        ("!missing,app", True),
        ("app=", False),
    ],
)
def test_selects(text: str, selected: bool) -> None:
    assert admits(parse(text), LABELS) is selected


def test_selectors_are_normalised() -> None:
    assert parse("a=b,c in (x,y)") == parse("c in ( y, x ), a==b")


@pytest.mark.parametrize("text", ["a=b,,c", "in (x", "a b", "=x", "a in x", "a=b c"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="unable to parse"):
        parse(text)
