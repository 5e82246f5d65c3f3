"""Which patterns can take for ever."""

from __future__ import annotations

import pytest

from scenario_kit.load.patterns import problem


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "^https?://", "^(a|b)$", "^([0-9]{1,3}\\.){3}[0-9]{1,3}$", "[(]+[)]*",
        "\\(a+\\)+",
        "^[^]+]+$", "a{2,5}", "(ab)+", "", "^(foo|bar){2}$", "(?:abc)*", "[\\]+*]*",
    ],
)  # fmt: skip
def test_usable(pattern: str) -> None:
    assert problem(pattern) == ""


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$", "(a*)*", "(a|a)*", "(a|ab)+$", "((a+))+", "(?:a+)*", "(?P<x>a+)+", "(a{1,})+", "(a{20}){20,}",
        "((a|b)c)+",
        "(x(a+)y)*", "(a+){2,}", "([a-z]+)*!",
    ],
)  # fmt: skip
def test_for_ever(pattern: str) -> None:
    assert "for ever" in problem(pattern)


@pytest.mark.parametrize("pattern", ["(", "[", "*", "a{2,1}", "(?P<x>a)(?P<x>b)", "(" * 200 + ")" * 199])
def test_no_regular_expression(pattern: str) -> None:
    assert "no regular expression" in problem(pattern)
