"""What became of a defective copy, and of an untouched scenario: records that survive an interruption."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from tools import records
from tools.defects.kind import Defect, Kind
from tools.defects.subject import Subject

#: *Right*: a finding with one of the codes that the kind names. *Other*: only others. *Missed*: nothing at all.
#: *Infra*: nothing could be judged.
Answer = Literal["Right", "Other", "Missed", "NotApplied", "Infra"]
#: Name of the kind of an untouched scenario.
UNTOUCHED = "untouched"


class Caught(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one copy. ``by`` is what saw it: ``lint``, or the purpose of a trial."""

    kind: str
    scenario: str
    answer: Answer
    codes: tuple[str, ...] = ()
    by: str = ""
    reported: str = ""
    seconds: float = 0.0
    digest: str = ""
    #: The day on which it was tried in a lab, such as ``2026-11-25``.
    date: str = ""
    #: The first finding that counts, or else the first one, in words.
    says: str = ""
    #: All that was found, with what was observed, where that is not right.
    beside: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from the records of other copies."""
        return self.kind, self.scenario, self.digest


def answer(kind: Kind, codes: Iterable[str]) -> Answer:
    """How well findings with these codes name the defect."""
    found = set(codes)
    return "Right" if kind.codes & found else "Other" if found else "Missed"


def digest(defect: Defect) -> str:
    """What a record is kept for: another copy has another one."""
    text = json.dumps([defect.document, dict(defect.files), defect.folder], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def key(kind: Kind, subject: Subject, defect: Defect) -> tuple[str, str, str]:
    """The key of the record of a copy."""
    return kind.name, subject.name, digest(defect)


def append(path: Path, record: Caught) -> None:
    """Add a line to a file of records."""
    records.append(path, record)


def read(path: Path) -> list[Caught]:
    """The records of a file, the last one for each copy."""
    return records.read(path, Caught, lambda caught: caught.key)
