"""Patterns that a stranger wrote: whether matching one can take for ever.

Python's matcher tries every way to split a text among repeats. A repeat of something that itself repeats, or that has
alternatives, can have more ways than there is time.
"""

from __future__ import annotations

import re
from typing import Final

#: Repeats of up to this many are no danger.
_FEW: Final = 16
_TOKEN: Final = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?::|P<\w+>|[=!]|<[=!]))?|\)|\||[*+]|\{[0-9]*,?[0-9]*\}"
)


def problem(pattern: str) -> str:
    """Why a pattern cannot be used; empty where it can."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"it is no regular expression: {error}"
    return "it repeats what itself repeats or has alternatives, which can take for ever" if _costly(pattern) else ""


def _costly(pattern: str) -> bool:
    risky = [False]  # for each open group: whether it holds a repeat or alternatives
    closed = False  # whether what ended right before is a group that does
    end = 0
    for token in _TOKEN.finditer(pattern):
        text, adjacent = token[0], token.start() == end
        if text[0] in "*+{":
            if _many(text):
                if closed and adjacent:
                    return True
                risky[-1] = True
        elif text[0] == "(":
            risky.append(False)
        elif text == "|":
            risky[-1] = True
        closed = False
        if text == ")" and len(risky) > 1:
            closed = risky.pop()
            risky[-1] = risky[-1] or closed
        end = token.end()
    return False


def _many(repeat: str) -> bool:
    if repeat in ("*", "+"):
        return True
    low, comma, high = repeat[1:-1].partition(",")
    return bool(comma and not high) or int(high or low or 0) > _FEW
