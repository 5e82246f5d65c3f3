"""Results for defective copies and untouched scenarios, kept as records that survive an interruption."""

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

#: *Right*: a finding with a code of the kind. *Other*: only other findings. *Missed*: no finding.
#: *NotApplied*: the copy could not be made or tried. *Infra*: infrastructure failed.
Answer = Literal["Right", "Other", "Missed", "NotApplied", "Infra"]
#: The kind of the records of untouched scenarios.
UNTOUCHED = "untouched"


class Caught(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result for one copy.

    Attributes:
        by: what caught it: ``lint``, or the purpose of a trial.
        reported: what was changed, or why the kind does not apply.
        date: the day of its trials in a lab, such as ``2026-11-25``; empty for lint.
        says: message of the first finding with a right code, or else of the first finding.
        beside: all findings of a copy that was not caught correctly.
    """

    kind: str
    scenario: str
    answer: Answer
    codes: tuple[str, ...] = ()
    by: str = ""
    reported: str = msgspec.field(default="", name="told")
    seconds: float = 0.0
    digest: str = ""
    date: str = ""
    says: str = ""
    beside: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, scenario and digest, which identify the copy."""
        return self.kind, self.scenario, self.digest


class LintTally(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many copies of one kind lint caught, in all scenarios; of untouched scenarios, ``other`` are false alarms.

    Attributes:
        date: the day of the lint, such as ``2026-11-25``.
        remarks: a line for each copy that was not caught correctly.
    """

    kind: str
    date: str
    right: int = 0
    other: int = 0
    missed: int = 0
    remarks: tuple[str, ...] = ()


def classify_findings(kind: Kind, codes: Iterable[str]) -> Answer:
    """Classify findings with these codes."""
    found = set(codes)
    return "Right" if kind.codes & found else "Other" if found else "Missed"


def digest_copy(defect: Defect) -> str:
    """Return a digest of a copy, by which its record is recognized."""
    text = json.dumps([defect.document, dict(defect.files), defect.folder], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def get_key(kind: Kind, subject: Subject, defect: Defect) -> tuple[str, str, str]:
    """Return the key of the record of a copy."""
    return kind.name, subject.name, digest_copy(defect)


def read_records(path: Path) -> list[Caught]:
    """Read the records of a file, the latest of each copy."""
    return records.read(path, Caught, lambda caught: caught.key)


def read_tallies(path: Path) -> list[LintTally]:
    """Read the tallies of a file, the latest of each kind."""
    return records.read(path, LintTally, lambda tally: tally.kind)
