"""Answers of tools, and their size limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from scenario_kit.model.base import Value, encode_json

#: Maximum length of a text answer; longer ones are truncated in the middle.
LONGEST_ANSWER: Final = 20_000
#: Maximum length of a list answer, which is truncated between items.
LONGEST_LIST: Final = 100_000


class ToolAnswer(Value, frozen=True, kw_only=True):
    """The answer of a tool: ``valid`` if its arguments were valid, ``ok`` if it succeeded.

    ``seconds`` is the incident time that the call lets pass, in addition to the cost of every call.
    """

    content: str
    ok: bool = True
    valid: bool = True
    seconds: float = 0.0


class BadCall(ValueError):
    """Invalid arguments of a tool; ``fix`` says what is valid."""

    def __init__(self, problem: str, fix: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix


def refuse_call(error: BadCall) -> ToolAnswer:
    """Build the answer to an invalid call."""
    text = f"error: {error.problem}" + (f"\nfix: {error.fix}" if error.fix else "")
    return ToolAnswer(content=text, ok=False, valid=False)


def cut_middle(text: str, longest: int = LONGEST_ANSWER) -> str:
    """Truncate a text in the middle to at most ``longest`` characters, with a note of what is left out."""
    if len(text) <= longest:
        return text
    mark = f"\n… {len(text) - longest} characters left out …\n"
    kept = max(longest - len(mark), 0)
    return text[: kept - kept // 2] + mark + text[len(text) - kept // 2 :]


def answer_list(items: Sequence[Any], longest: int = LONGEST_LIST) -> ToolAnswer:
    """Build ``{"items": […], "left_out": n}`` with as many leading items as fit."""
    kept: list[msgspec.Raw] = []
    room = longest
    for item in items:
        text = encode_json(item)
        room -= len(text) + 1
        if room < 0:
            break
        kept.append(msgspec.Raw(text))
    document = {"items": kept, "left_out": len(items) - len(kept)}
    return ToolAnswer(content=encode_json(document).decode())
