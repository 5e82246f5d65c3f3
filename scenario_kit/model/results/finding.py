"""Findings: one mistake or one broken promise, told completely."""

from __future__ import annotations

from enum import StrEnum

from scenario_kit.model.base import Value


class Severity(StrEnum):
    """Errors block a merge, warnings do not, notes inform."""

    ERROR = "Error"
    WARNING = "Warning"
    NOTE = "Note"


class Position(Value, frozen=True, kw_only=True):
    """Where in a file; line and column count from 1. Of an object that stands in no file, ``path`` is that of a field,
    and both are 0.
    """

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


class Finding(Value, frozen=True, kw_only=True):
    """A stable code and what a reader needs to act: what is wrong, observed, expected, why it matters, the fix.

    ``fixable`` says that ``lint --fix`` corrects it.
    """

    code: str
    severity: Severity
    message: str
    position: Position | None = None
    observed: str = ""
    expected: str = ""
    why: str = ""
    fix: str = ""
    step: str = ""
    trial: str = ""
    fixable: bool = False
