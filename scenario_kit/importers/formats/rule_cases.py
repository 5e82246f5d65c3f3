"""Guess test cases of imported rules from their expressions: samples that should make an alert fire.

Each vector selector gets one series with matching labels, whose samples are high or low by its side of a comparison.
``scenario-kit alerts test`` runs promtool to check whether the alert fires.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from scenario_kit.load.promql.rewrite import find_selectors
from scenario_kit.model.base import Object

_MATCHER: Final = re.compile(r"""([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")
_ABSENT: Final = re.compile(r"\babsent(_over_time)?\s*\(\s*$")
_NAME: Final = re.compile(r"[a-zA-Z_:][\w:]*")
#: What holds no operators: matchers, ranges and texts.
_OPAQUE: Final = re.compile(r"""\{[^}]*\}|\[[^\]]*\]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_SET: Final = re.compile(r"\b(and|or|unless)\b")
_COMPARISON: Final = re.compile(r"==|!=|>=|<=|>|<")
_MINUS: Final = re.compile(r"\s-\s")
_NUMBER: Final = re.compile(r"\s*(?:bool\s+)?([0-9]+(?:\.[0-9]+)?)[\s)]*$")
#: Samples in steps of 15 s: an increasing counter, a high gauge, and zero, which promtool does not read as `0x`.
_BUSY, _HIGH, _ZERO = "0+9000x", "1000000x", "0+0x"
#: Example values of labels that identify objects.
_NAMED: Final = {
    "service_name": "cart", "pod": "cart-7d9f8b6c5-x2x8p", "deployment": "cart", "statefulset": "cart",
    "horizontalpodautoscaler": "cart", "node": "worker-1", "namespace": "shop",
}  # fmt: skip


class _ExpressionPart(NamedTuple):
    """A part of an expression between `and`, `or` and `unless`: its position, text and comparison."""

    start: int
    text: str
    excluded: bool
    comparison: re.Match[str] | None


def build_case(rule: Object, seconds: int) -> Object:
    """Build a test case in which an alert should fire after ``seconds``.

    Args:
        rule: the rule in the pack.
        seconds: its ``for`` and its longest range.
    """
    minute = seconds // 60 + 3
    count = minute * 4 + 8
    series = {text: {"series": text, "values": f"{values}{count}"} for text, values in _list_series(str(rule["expr"]))}
    entity = rule.get("entity")
    fires = _NAMED.get(entity["label"], "any") if entity else "any"
    absent = [{"series": "another_series{}", "values": f"1x{count}"}]
    return {
        "case": f"samples that should make {rule['alert']} fire", "alert": rule["alert"],
        "series": list(series.values()) or absent, "minute": minute, "fires": fires,
    }  # fmt: skip


def _list_series(expr: str) -> list[tuple[str, str]]:
    """List a series per selector, with its samples; none of what must be absent."""
    parts, found = _split(expr), []
    present = {label: "x" for label, operator, *value in _MATCHER.findall(expr) if operator == "!=" and not any(value)}
    for selector in find_selectors(expr):
        part = next(each for each in reversed(parts) if each.start <= selector.start)
        if part.excluded or _ABSENT.search(expr[: selector.start]):
            continue
        text = expr[selector.start : selector.end]
        name, labels = _build_labels(text, present)
        if name:
            pairs = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()) if value)
            ranged = expr[selector.end :].lstrip().startswith("[")
            found.append((f"{name}{{{pairs}}}", _choose_samples(part, selector.start - part.start, ranged=ranged)))
    return found


def _split(expr: str) -> list[_ExpressionPart]:
    masked = _OPAQUE.sub(lambda found: "_" * len(found[0]), expr)
    ends = [*_SET.finditer(masked)]
    starts = [(0, ""), *((each.end(), each[0]) for each in ends)]
    stops = [*(each.start() for each in ends), len(masked)]
    texts = [(start, masked[start:stop], word == "unless") for (start, word), stop in zip(starts, stops, strict=True)]
    return [_ExpressionPart(start, text, excluded, _COMPARISON.search(text)) for start, text, excluded in texts]


def _choose_samples(part: _ExpressionPart, at: int, *, ranged: bool) -> str:
    """Choose samples by which the comparison of a part holds, for the selector at a position in it."""
    high, comparison = True, part.comparison
    if comparison is not None:
        operator, left = comparison[0], at < comparison.start()
        number = _NUMBER.match(part.text, comparison.end())
        if operator == "==" and left and number and not ranged:
            return f"{number[1]}+0x"
        high = left == (operator in (">", ">=", "!=")) or (operator == "==" and not number)
        before = part.text[:at] if left else part.text[comparison.end() : at]
        if _MINUS.search(before) or (not high and left and "/" in before):
            high = not high
    return (_BUSY if ranged else _HIGH) if high else _ZERO


def _build_labels(text: str, present: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Build name and labels of a series that a selector selects; without a name, it selects none."""
    name = match[0] if (match := _NAME.match(text)) else ""
    labels = {**_NAMED, **present} if name else {}
    for label, operator, double, single in _MATCHER.findall(text[len(name) :]):
        value = double or single
        if label == "__name__" and operator == "=":
            name = value
        elif operator == "=":
            labels[label] = value
        elif operator == "=~":
            labels[label] = _build_matching_text(value)
    return name, labels


def _build_matching_text(pattern: str) -> str:
    """Build a text that a pattern matches: its first alternative, with wildcards replaced."""
    first = pattern.strip("^$()").split("|")[0]
    plain = re.sub(r"\.\*|\.\+|\[[^\]]*\][+*]?", "x", first)
    return re.sub(r"[\\?+*()\[\]^$]", "", plain)
