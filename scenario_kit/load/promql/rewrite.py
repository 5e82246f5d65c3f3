"""Locate the vector selectors of a PromQL expression, so that it can be rewritten in place.

Rewriting the text keeps what a printer would lose (escapes, number formats, comments). The result is verified:
``observe.rules`` compares the parsed selectors of the rewritten text with those of the original.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)
      | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[a-zA-Z]\w*)?)
      | (?P<name>[a-zA-Z_:][\w:]*)
      | (?P<mark>[^\s\w])""",
    re.VERBOSE,
)
#: Keywords followed by label names in parentheses.
_LABEL_LISTS = frozenset({"by", "without", "on", "ignoring", "group_left", "group_right"})
_OPERATORS = frozenset({"and", "or", "unless", "atan2", "bool", "offset", "inf", "nan"})


class Selector(NamedTuple):
    """One vector selector: its text is ``expr[start:end]``; ``brace`` is the position of its ``{``, or -1."""

    start: int
    end: int
    brace: int
    empty: bool  # no matchers, or no braces


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def find_selectors(expr: str) -> list[Selector]:
    """Return all vector selectors in order. ``expr`` must be valid PromQL."""
    tokens = [_Token(m.lastgroup or "", m.group(), m.start()) for m in _TOKEN.finditer(expr) if m.lastgroup != "space"]
    found: list[Selector] = []
    index = 0
    while index < len(tokens):
        token, after = tokens[index], _read_token(tokens, index + 1)
        if token.text == "{":
            found.append(_parse_braced(tokens, index, token.start))
            index = _find_closing(tokens, index, "}")
        elif token.text == "[":
            index = _find_closing(tokens, index, "]")
        elif token.kind == "name":
            if after == "{":
                found.append(_parse_braced(tokens, index + 1, token.start))
                index = _find_closing(tokens, index + 1, "}")
            elif after == "(":
                if token.text.lower() in _LABEL_LISTS:
                    index = _find_closing(tokens, index + 1, ")")
            elif not _is_word(tokens, index):
                found.append(Selector(token.start, token.start + len(token.text), -1, empty=True))
        index += 1
    return found


def _is_word(tokens: list[_Token], index: int) -> bool:
    """Return whether a bare name is syntax: a keyword, or an aggregation followed by its grouping."""
    word = tokens[index].text.lower()
    return word in _OPERATORS or word in _LABEL_LISTS or _read_token(tokens, index + 1).lower() in ("by", "without")


def _parse_braced(tokens: list[_Token], brace: int, start: int) -> Selector:
    close = _find_closing(tokens, brace, "}")
    return Selector(start, tokens[close].start + 1, tokens[brace].start, empty=close == brace + 1)


def _find_closing(tokens: list[_Token], index: int, mark: str) -> int:
    return next(i for i in range(index, len(tokens)) if tokens[i].text == mark)


def _read_token(tokens: list[_Token], index: int) -> str:
    return tokens[index].text if index < len(tokens) else ""
