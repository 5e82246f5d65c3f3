"""What a trial of a campaign is for. Names of trials, labels and reports have it as a text."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

_TEXT: Final = re.compile(r"(?P<name>.+?)(?:-(?P<number>0|[1-9]\d*))?(?P<again>-again)?")


class PurposeKind(StrEnum):
    """What trials try to show. ``OTHER`` are trials that no plan has."""

    REPEAT = "repeat"
    CONTROL = "control"
    DISTRACTORS = "distractors"
    UNTRIGGERED = "untriggered"
    UNDISTURBED = "undisturbed"
    LEAKS = "leaks"
    DECOYS = "decoys"
    DECOYS_LEFT = "decoys-left"
    SOLUTION = "solution"
    CHEATS = "cheats"
    LABEL = "label"
    LABEL_REST = "label-rest"
    LABEL_BESIDE = "label-beside"
    LABEL_ARTEFACT = "label-artefact"
    LEAVE_OUT = "leave-out"
    ENDING = "ending"
    OTHER = "other"


class Purpose(NamedTuple):
    """A name, a number where a campaign has several trials of it, and whether one is tried once more."""

    name: str
    number: int | None = None
    again: bool = False

    def __str__(self) -> str:
        number = "" if self.number is None else f"-{self.number}"
        return f"{self.name}{number}{'-again' if self.again else ''}"

    @classmethod
    def parse(cls, text: str) -> Purpose:
        """Parse the purpose of a trial from its text."""
        match = _TEXT.fullmatch(text)
        if match is None:
            return cls(text)
        return cls(match["name"], int(match["number"]) if match["number"] else None, bool(match["again"]))

    @property
    def kind(self) -> PurposeKind:
        """What it tries to show."""
        return PurposeKind(self.name) if self.name in _KINDS else PurposeKind.OTHER


_KINDS: Final = frozenset(PurposeKind)
#: Trials that repair what is labelled, or all but that.
LABEL_KINDS: Final = frozenset(
    {PurposeKind.LABEL, PurposeKind.LABEL_REST, PurposeKind.LABEL_BESIDE, PurposeKind.LABEL_ARTEFACT}
)


def is_repeat(purpose: str) -> bool:
    """Return whether a trial of that purpose is one of the paired repeats."""
    return Purpose.parse(purpose).kind is PurposeKind.REPEAT
