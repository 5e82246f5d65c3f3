"""The purpose of a trial in a campaign, in text form used by names, labels and reports."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

_TEXT: Final = re.compile(r"(?P<name>.+?)(?:-(?P<number>0|[1-9]\d*))?(?P<again>-again)?")


class PurposeKind(StrEnum):
    """Purposes of planned trials. ``OTHER`` are trials outside of a plan."""

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
    LABEL_APART = "label-apart"
    LABEL_ARTEFACT = "label-artefact"
    LEAVE_OUT = "leave-out"
    ENDING = "ending"
    OTHER = "other"


class Purpose(NamedTuple):
    """A kind, a number if a campaign has several such trials, and whether it is a retry."""

    name: str
    number: int | None = None
    again: bool = False

    def __str__(self) -> str:
        number = "" if self.number is None else f"-{self.number}"
        return f"{self.name}{number}{'-again' if self.again else ''}"

    @classmethod
    def parse(cls, text: str) -> Purpose:
        """Parse a purpose from its text."""
        match = _TEXT.fullmatch(text)
        if match is None:
            return cls(text)
        return cls(match["name"], int(match["number"]) if match["number"] else None, bool(match["again"]))

    @property
    def kind(self) -> PurposeKind:
        """The kind of trial."""
        return PurposeKind(self.name) if self.name in _KINDS else PurposeKind.OTHER


_KINDS: Final = frozenset(PurposeKind)
#: Trials that repair labelled causes, or all but these.
LABEL_KINDS: Final = frozenset(
    {
        PurposeKind.LABEL,
        PurposeKind.LABEL_REST,
        PurposeKind.LABEL_BESIDE,
        PurposeKind.LABEL_APART,
        PurposeKind.LABEL_ARTEFACT,
    }
)


def is_repeat(purpose: str) -> bool:
    """Return whether a trial is one of the repeats."""
    return Purpose.parse(purpose).kind is PurposeKind.REPEAT
