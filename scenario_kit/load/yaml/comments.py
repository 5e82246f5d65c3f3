"""Comments of a file that ask its author something: ``# to decide: which container is meant``.

Drafts that were made from other formats carry them; whoever has decided deletes the comment.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_MARK: Final = "to decide:"
_QUESTION: Final = re.compile(rf"[ \t]*#[ \t]*{_MARK}[ \t]*(\S.*)")


class OpenQuestion(NamedTuple):
    """A question in a comment, and where the comment begins: line and column, from zero."""

    text: str
    line: int
    column: int


def format_question(text: str) -> str:
    """Format a question as a comment of one line."""
    return f"# {_MARK} {' '.join(text.split())}"


def find_questions(text: str) -> tuple[OpenQuestion, ...]:
    """Find the questions that stand in lines of their own; also in text blocks, of which they should be no part."""
    if _MARK not in text:
        return ()
    return tuple(
        OpenQuestion(found[1].strip(), number, line.index("#"))
        for number, line in enumerate(text.split("\n"))
        if (found := _QUESTION.fullmatch(line.rstrip("\r")))
    )
