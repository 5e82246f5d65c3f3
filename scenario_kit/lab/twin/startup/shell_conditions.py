"""Conditions in scripts that depend on the pod's name, such as which member of a StatefulSet it is.

Only what the script itself decides is decided here: comparisons of words, without commands or unknown variables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_HOSTNAME = re.compile(r"\$\(\s*hostname(?:\s+-s)?\s*\)|`\s*hostname(?:\s+-s)?\s*`|\$\{?HOSTNAME(?![\w#%:])\}?")
_ORDINAL = re.compile(r"\$\{HOSTNAME##\*-\}")
_MATCHED = re.compile(r"\[\[\s+[\w.-]+\s+=~\s+\S+\s+\]\]\s*\|\|\s*exit\s+\d+")
_ASSIGNED = re.compile(
    r"(?:^|[;\n&({]|\bthen|\bdo)\s*(?P<name>[A-Za-z_]\w*)=(?P<quote>[\"']?)(?P<value>[\w./:-]*)(?P=quote)(?=[\s;&|]|$)"
)
_WORD = r"[\"']?(?P<{0}>[\w.:/-]*)[\"']?"
_TEST = re.compile(
    r"\[\[?\s+" + _WORD.format("one") + r"\s+(?P<operator>==?|!=|-eq|-ne|-gt|-ge|-lt|-le)\s+" + _WORD.format("other")
    + r"\s+\]\]?\s*(?P<link>\|\||&&|;?\s*then\b)\s*"
)  # fmt: skip
_BRACKETS: Final = {"until": "done", "while": "done", "for": "done", "if": "fi", "case": "esac", "{": "}", "(": ")"}
_OPENING = re.compile(r"until\b|while\b|for\b|if\b|case\b|\{|\(")
_COMMAND = re.compile(r"[^;\n&|]*")
_ELSE = re.compile(r"\belse\b|\belif\b|\bfi\b")
_END = re.compile(r"exit(?:\s+0)?\s*(?:[;\n&|]|$)")
_MOST: Final = 20


def resolve_conditions(text: str, hostname: str) -> str:
    """Return a script without the commands that it skips in a pod of this name."""
    text = _HOSTNAME.sub(hostname, text)
    ordinal = hostname.rpartition("-")[2]
    text = _ORDINAL.sub(ordinal, text).replace("${BASH_REMATCH[1]}", ordinal)
    text = _MATCHED.sub("true", text)
    text = _expand_variables(text, {m["name"]: m["value"] for m in _ASSIGNED.finditer(text)})
    for _ in range(_MOST):
        match = _TEST.search(text)
        if match is None:
            break
        text = _decide(text, match)
    return text


def _expand_variables(text: str, known: Mapping[str, str]) -> str:
    for name, value in known.items():
        text = re.sub(rf"\$(?:\{{{name}\}}|{name}(?!\w))", lambda _, value=value: value, text)  # type: ignore[misc]
    return text


def _decide(text: str, match: re.Match[str]) -> str:
    """Return the text with the commands behind one comparison, or without them."""
    before, after, link = text[: match.start()], text[match.end() :], match["link"]
    holds = _holds(match["one"], match["operator"], match["other"])
    if link.endswith("then"):
        end = _ELSE.search(after)
        if end is None or end[0] == "elif":
            return before + after
        rest = after[end.end() :]
        other, _, rest = rest.partition("fi") if end[0] == "else" else ("", "", rest)
        before = re.sub(r"\bif\s*$", "", before)
        chosen = after[: end.start()] if holds else other
        return before + chosen if _END.match(chosen.strip()) else before + chosen + rest
    if holds == (link == "||"):
        return before + "true" + after[_measure_command(after) :]
    return before if _END.match(after) else before + after


def _measure_command(text: str) -> int:
    """Return the length of the command at the beginning of a text: a loop or group as a whole, else up to its end."""
    opening = _OPENING.match(text)
    if opening is None:
        found = _COMMAND.match(text)
        return found.end() if found else 0
    closing = _BRACKETS[opening[0]]
    at = text.find(closing, opening.end())
    return at + len(closing) if at >= 0 else len(text)


def _holds(one: str, operator: str, other: str) -> bool:
    if operator in ("=", "==", "!="):
        return (one == other) == (operator != "!=")
    if not (one.isdigit() and other.isdigit()) or max(len(one), len(other)) > 18:
        return False
    left, right = int(one), int(other)
    return {
        "-eq": left == right, "-ne": left != right, "-gt": left > right,
        "-ge": left >= right, "-lt": left < right, "-le": left <= right,
    }[operator]  # fmt: skip
