"""SK117, SK119: expressions that cannot be parsed, and queries without series or with a namespace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.alerts.promql import list_matchers, walk
from scenario_kit.model.json_document import Place
from scenario_kit.model.re2 import compile_pattern

#: Fields of checks that are regular expressions.
PATTERNS: Final = ("matches", "pattern", "messageMatches")


@register_check("SK117")
def check_patterns(case: LintContext) -> Iterator[Problem]:
    for place, text in case.positions.texts.items():
        if place[-2:] == ("query", "expr"):
            yield from check_expression(place, text)
        if place[-1] in PATTERNS and ("checks" in place or "check" in place):
            yield from check_pattern(place, text)


def check_pattern(place: Place, text: str) -> Iterator[Problem]:
    """Check for SK117: a pattern that is not valid in RE2."""
    try:
        compile_pattern(text)
    except ValueError as error:
        reported = f"'{text}' is not a valid regular expression: {error}"
        yield Problem(place, reported, text, "RE2 syntax: no lookaheads, no backreferences")


def check_expression(place: Place, expr: str) -> Iterator[Problem]:
    """Check for SK117: an expression that is not PromQL."""
    try:
        list(walk(expr))
    except ValueError as error:
        message = f"the query is not PromQL: {str(error).splitlines()[0]}"
        yield Problem(place, message, expr[:120], "a valid PromQL expression", "correct the expression")


def check_series(place: Place, expr: str) -> Iterator[Problem]:
    """Check for SK119: a query without a series, or with a namespace."""
    try:
        kinds = {type(node).__name__ for node in walk(expr)}
    except ValueError:
        return  # SK117
    if not kinds & {"VectorSelector", "MatrixSelector"}:
        message = "the query selects no series: its result is always the same"
        yield Problem(place, message, expr[:120], "a selector", "select a series of the app")
    for matcher in list_matchers(expr):
        if matcher.label == "namespace":
            message = "the query names a namespace, but each trial has a namespace of its own"
            observed, fix = f'namespace{matcher.operator}"{matcher.value}"', "remove it: the trial's is added"
            yield Problem(place, message, observed, "no matcher of the namespace", fix)
