"""Patterns of authors: RE2's syntax, in time that only grows with the text."""

from __future__ import annotations

import time

import pytest

from scenario_kit.model.re2 import MOST_STEPS, compile_pattern


@pytest.mark.parametrize(
    ("text", "subject", "found", "whole"),
    [
        ("b+", "abbc", True, False), ("^a.c$", "abc", True, True), ("(?i)TIMEOUT|x", "a timeout", True, False),
        ("", "a", True, False), ("a", "", False, False), ("é", "caf\u00e9", True, False), (r"\d{3}", "404", True, True),
        ("a$", "a\n", False, False), (r"[\s\S]*b", "a\nb", True, True), ("a", "\ud800a", True, False),
    ],
)  # fmt: skip
def test_patterns_are_searched_and_matched(text: str, subject: str, found: bool, whole: bool) -> None:
    assert compile_pattern(text).found_in(subject) is found
    assert compile_pattern(text).matches(subject) is whole


def test_named_groups() -> None:
    sought = compile_pattern("(?P<user>[a-z]+)(:(?P<password>[^;]*))?;")

    assert [*sought.groups("ann:é;bob;")] == [{"user": "ann", "password": "é"}, {"user": "bob", "password": ""}]


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("(", "missing )"), ("[", "missing ]"), ("*", "no argument"), ("a{2,1}", "repetition"),
        ("(?=a)", "invalid perl operator"), (r"(a)\1", "invalid escape sequence"), ("(?<!a)b", "invalid"),
        ("a{5000}", "repetition"), (".{1000}", f"more than {MOST_STEPS}"), ("\\pL{100}", f"more than {MOST_STEPS}"),
        ("((a{100}){100}){100}", "repetition"),
    ],
)  # fmt: skip
def test_invalid_pattern_is_refused(text: str, reported: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"steps|RE2") as caught:
        compile_pattern(text)

    assert reported in str(caught.value)
    assert capfd.readouterr().err == "", "the library says nothing by itself"


@pytest.mark.parametrize("text", ["(a+)+$", "(a|a)*b", "^a*a*a*a*a*a*a*a*b$", "(a|aa)+$", "(.*a){20}b"])
def test_patterns_run_in_linear_time(text: str) -> None:
    before = time.process_time()

    assert not compile_pattern(text).found_in("a" * 5_000 + "!")

    assert time.process_time() - before < 2
