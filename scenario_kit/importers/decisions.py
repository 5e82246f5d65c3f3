"""What an import decided: about every value of its input, and what came out of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

from scenario_kit.model import Position
from scenario_kit.model.base import Value

#: Taken: means the same here. Mapped: has another name or unit here. Guessed: somebody has to confirm it.
#: Refused: is not in any draft.
Treatment = Literal["Taken", "Mapped", "Guessed", "Refused"]
TREATMENTS: Final[tuple[Treatment, ...]] = ("Taken", "Mapped", "Guessed", "Refused")


class ImportDecision(Value, frozen=True, kw_only=True):
    """What became of one value of the input.

    ``place`` spells where it stands in its document, ``value`` quotes it, ``result`` is what it became. ``within``
    spells the places of all values inside, where it was treated as a whole. ``draft`` names the draft it belongs to.
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
    """One draft: a path below the folder for drafts, and its text. ``questions`` are what somebody has to decide."""

    name: str
    path: str
    text: str
    source: Position
    questions: tuple[str, ...] = ()


class ImportResult(Value, frozen=True, kw_only=True):
    """What an import makes of its input: drafts, and a decision about each value."""

    format: str
    files: tuple[str, ...]
    drafts: tuple[ImportedFile, ...]
    decisions: tuple[ImportDecision, ...]

    def count_treatments(self) -> dict[str, int]:
        """Count the decisions of each treatment, in the order of ``TREATMENTS``."""
        return count_treatments(self.decisions)


def count_treatments(decisions: Sequence[ImportDecision]) -> dict[str, int]:
    """Count decisions by treatment; those without any are counted as 0."""
    counts = Counter(each.treatment for each in decisions)
    return {name: counts[name] for name in TREATMENTS}
