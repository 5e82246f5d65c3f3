"""Guess test cases of imported rules from their expressions: samples that should make an alert fire.

Each vector selector gets one series with matching labels. ``scenario-kit alerts test`` runs promtool to check whether
the alert fires.
"""

from __future__ import annotations

import re
from typing import Final

from scenario_kit.load.promql.rewrite import find_selectors
from scenario_kit.model.base import Object

_MATCHER: Final = re.compile(r"""([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")
_LOW: Final = re.compile(r"(<=?|==)\s*(bool\s+)?[0-9.]+\s*$")
_ABSENT: Final = re.compile(r"\babsent(_over_time)?\s*\(\s*$")
_NAME: Final = re.compile(r"[a-zA-Z_:][\w:]*")
#: Samples in steps of 15 s: an increasing counter, a high gauge, and zero.
_BUSY, _HIGH, _ZERO = "0+9000x", "1000000x", "0x"
#: Example values of labels that identify objects.
_NAMED: Final = {
    "service_name": "cart", "pod": "cart-7d9f8b6c5-x2x8p", "deployment": "cart", "statefulset": "cart",
    "horizontalpodautoscaler": "cart", "node": "worker-1", "namespace": "shop",
}  # fmt: skip


def build_case(rule: Object, seconds: int) -> Object:
    """Build a test case in which an alert should fire after ``seconds``.

    Args:
        rule: the rule in the pack.
        seconds: its ``for`` and its longest range.
    """
    minute = seconds // 60 + 3
    count = minute * 4 + 8
    expr = str(rule["expr"])
    low = _LOW.search(expr.strip()) is not None
    series = {
        text: {"series": text, "values": f"{_ZERO if low else _BUSY if ranged else _HIGH}{count}"}
        for text, ranged in _list_series(expr)
    }
    entity = rule.get("entity")
    fires = _NAMED.get(entity["label"], "any") if entity else "any"
    absent = [{"series": "another_series{}", "values": f"1x{count}"}]
    return {
        "case": f"samples that should make {rule['alert']} fire", "alert": rule["alert"],
        "series": list(series.values()) or absent, "minute": minute, "fires": fires,
    }  # fmt: skip


def _list_series(expr: str) -> list[tuple[str, bool]]:
    """List a series per selector, and whether it is a range selector."""
    found = []
    for selector in find_selectors(expr):
        text = expr[selector.start : selector.end]
        if _ABSENT.search(expr[: selector.start]):
            continue
        name = match[0] if (match := _NAME.match(text)) else ""
        labels = dict(_NAMED) if name else {}
        for label, operator, double, single in _MATCHER.findall(text[len(name) :]):
            value = double or single
            if label == "__name__" and operator == "=":
                name = value
            elif operator == "=":
                labels[label] = value
            elif operator == "=~":
                labels[label] = _build_matching_text(value)
        if name:
            pairs = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()) if value)
            found.append((f"{name}{{{pairs}}}", expr[selector.end :].lstrip().startswith("[")))
    return found


def _build_matching_text(pattern: str) -> str:
    """Build a text that a pattern matches: its first alternative, with wildcards replaced."""
    first = pattern.strip("^$()").split("|")[0]
    plain = re.sub(r"\.\*|\.\+|\[[^\]]*\][+*]?", "x", first)
    return re.sub(r"[\\?+*()\[\]^$]", "", plain)
