"""What a tool answers, and how long an answer may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from scenario_kit.model.base import Value

#: Characters of an answer that a solver gets; longer ones are cut in the middle.
LONGEST_ANSWER: Final = 20_000
#: Characters of an answer that is a list, which is cut between two items.
LONGEST_LIST: Final = 100_000


class ToolAnswer(Value, frozen=True, kw_only=True):
    """``valid`` says that the arguments were, ``ok`` that the tool did what it should.

    ``seconds`` is how much of the incident's time the call asks to pass, beside what every call costs.
    """

    content: str
    ok: bool = True
    valid: bool = True
    seconds: float = 0.0


class BadCall(ValueError):
    """Arguments that cannot be used; ``fix`` says what could be."""

    def __init__(self, problem: str, fix: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix


def refuse_call(error: BadCall) -> ToolAnswer:
    """Return the answer to a call that cannot be used."""
    text = f"error: {error.problem}" + (f"\nfix: {error.fix}" if error.fix else "")
    return ToolAnswer(content=text, ok=False, valid=False)


def cut_middle(text: str, longest: int = LONGEST_ANSWER) -> str:
    """Return a text of at most so many characters, which says what was left out of its middle."""
    if len(text) <= longest:
        return text
    mark = f"\n… {len(text) - longest} characters left out …\n"
    kept = max(longest - len(mark), 0)
    return text[: kept - kept // 2] + mark + text[len(text) - kept // 2 :]


def answer_list(items: Sequence[Any], longest: int = LONGEST_LIST) -> ToolAnswer:
    """Return ``{"items": […], "left_out": n}`` with as many of the first items as there is room for."""
    kept: list[msgspec.Raw] = []
    room = longest
    for item in items:
        text = msgspec.json.encode(item)
        room -= len(text) + 1
        if room < 0:
            break
        kept.append(msgspec.Raw(text))
    document = {"items": kept, "left_out": len(items) - len(kept)}
    return ToolAnswer(content=msgspec.json.encode(document).decode())
