"""Whether a YAML text is shallow enough to be read: libyaml crashes the process on tens of thousands of levels."""

from __future__ import annotations

import re
from typing import Final

#: Levels that libyaml surely bears, by far.
_HARMLESS: Final = 500
_START: Final = re.compile(r"^ *[-?:](?:[ \t]+[-?:]){250}", re.MULTILINE)
_BRACKETS: Final = re.compile(r"[\[\]{}]")


class TooDeep(ValueError):
    """The text nests too deep."""


def shallow(text: str) -> None:
    """Refuse a text that nests too deep to be read. Brackets in prose count as well.

    A level takes a bracket or an indicator at the start of a line, so texts with few of both need no counting.

    Raises:
        TooDeep: it does.
    """
    if text.count("[") + text.count("{") < _HARMLESS and not _START.search(text):
        return
    if _START.search(text):
        raise TooDeep(f"it nests deeper than {_HARMLESS // 2} levels")
    depth = 0
    for bracket in _BRACKETS.findall(text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        if depth > _HARMLESS:
            raise TooDeep(f"it nests deeper than {_HARMLESS} levels")
