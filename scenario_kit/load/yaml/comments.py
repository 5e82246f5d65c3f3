"""Open questions in comments: ``# to decide: which container is meant``.

Drafts imported from other formats contain them; the author deletes them once decided.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_MARK: Final = "to decide:"
_QUESTION: Final = re.compile(rf"[ \t]*#[ \t]*{_MARK}[ \t]*(\S.*)")


class OpenQuestion(NamedTuple):
    """A question in a comment, and where the comment begins: line and column from zero."""

    text: str
    line: int
    column: int


def format_question(text: str) -> str:
    """Format a question as a one-line comment."""
    return f"# {_MARK} {' '.join(text.split())}"


def find_questions(text: str) -> tuple[OpenQuestion, ...]:
    """Find questions in lines of their own, including those in block scalars, which should not contain any."""
    if _MARK not in text:
        return ()
    return tuple(
        OpenQuestion(found[1].strip(), number, line.index("#"))
        for number, line in enumerate(text.split("\n"))
        if (found := _QUESTION.fullmatch(line.rstrip("\r")))
    )
