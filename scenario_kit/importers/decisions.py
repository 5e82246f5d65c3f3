"""The result of an import: drafts, and a decision about every value of the input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

from scenario_kit.model import Position
from scenario_kit.model.base import Value

#: Taken: same meaning in the draft. Mapped: another name or unit. Guessed: needs the author's confirmation.
#: Refused: in no draft.
Treatment = Literal["Taken", "Mapped", "Guessed", "Refused"]
TREATMENTS: Final[tuple[Treatment, ...]] = ("Taken", "Mapped", "Guessed", "Refused")


class ImportDecision(Value, frozen=True, kw_only=True):
    """The decision about one value of the input.

    ``place`` is its path in the document, ``value`` a shortened quote, ``result`` what it became. ``within`` lists the
    paths of nested values that the decision covers. ``draft`` names the draft that holds the result.
    """

    treatment: Treatment
    position: Position
    place: str
    value: str = ""
    result: str = ""
    reason: str = ""
    fix: str = ""
    draft: str = ""
    within: tuple[str, ...] = ()


class ImportedFile(Value, frozen=True, kw_only=True):
    """One draft: its path below the output folder, and its text. ``questions`` are open decisions for the author."""

    name: str
    path: str
    text: str
    source: Position
    questions: tuple[str, ...] = ()


class ImportResult(Value, frozen=True, kw_only=True):
    """The drafts of an import, and a decision about each value of its input."""

    format: str
    files: tuple[str, ...]
    drafts: tuple[ImportedFile, ...]
    decisions: tuple[ImportDecision, ...]

    def count_treatments(self) -> dict[str, int]:
        """Count the decisions of each treatment, in the order of ``TREATMENTS``."""
        return count_treatments(self.decisions)


def count_treatments(decisions: Sequence[ImportDecision]) -> dict[str, int]:
    """Count decisions by treatment, including treatments without any."""
    counts = Counter(each.treatment for each in decisions)
    return {name: counts[name] for name in TREATMENTS}
