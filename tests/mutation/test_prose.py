"""What only changes text for people is left out, and nothing else."""

import ast

import pytest

from tools.mutation.prose import differs_in_prose


def parse_function(body):
    return ast.parse(f"def f(a, b=1):\n    {body}").body[0]


@pytest.mark.parametrize(
    ("original", "mutant"),
    [
        ('return say("not ready")', 'return say("XXnot readyXX")'),
        ('return say("not ready")', 'return say("NOT READY")'),
        ('return say(f"{a} is not ready")', 'return say(f"{a} IS NOT READY")'),
        ("return Finding(code, fix=a)", "return Finding(code, fix=None)"),
        ("return Finding(code, fix=a)", "return Finding(code, )"),
        ('"""A docstring."""; return 1', '"""XXA docstring.XX"""; return 1'),
        ('return say("not " + "ready now")', 'return say("not " + "READY NOW")'),
    ],
)
def test_prose_only_mutant_is_skipped(original, mutant):
    assert differs_in_prose(parse_function(original), parse_function(mutant))


@pytest.mark.parametrize(
    ("original", "mutant"),
    [
        ("return a < b", "return a <= b"),
        ('return a["ready"]', 'return a["READY"]'),
        ('return say("not ready")', "return say(None)"),
        ('return say(f"{a + 1} of these")', 'return say(f"{a - 1} of these")'),
        ('return Finding("SK451", fix=a)', 'return Finding("XXSK451XX", fix=a)'),
        ("return Finding(code, severity=a)", "return Finding(code, severity=None)"),
        ("return 1", "return 2"),
        ('x = "not ready"', "x = None"),
    ],
)
def test_decision_mutant_is_kept(original, mutant):
    assert not differs_in_prose(parse_function(original), parse_function(mutant))


def test_default_of_an_argument_is_no_text():
    assert not differs_in_prose(parse_function("return a"), ast.parse("def f(a, b=2):\n    return a").body[0])
