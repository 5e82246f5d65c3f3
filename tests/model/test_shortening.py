"""Texts and lists that are shortened for messages."""

from __future__ import annotations

import pytest

from scenario_kit.model.shortening import shorten_list, shorten_text


@pytest.mark.parametrize(
    ("texts", "joint", "short"),
    [
        ([], ", ", ""),
        (["a"], ", ", "a"),
        (["a", "b"], ", ", "a, b"),
        (["a", "b", "c"], ", ", "a, b and 1 more"),
        (["a", "b", "c", "d"], "; ", "a; b; and 2 more"),
    ],
)
def test_list_names_the_first_and_counts_the_others(texts: list[str], joint: str, short: str) -> None:
    assert shorten_list(texts, 2, joint) == short


@pytest.mark.parametrize(("text", "short"), [("four", "four"), ("fives", "fiv…"), ("a\tb", "a\\u0009b")])
def test_text_is_cut_and_printable(text: str, short: str) -> None:
    assert shorten_text(text, 4) == short
