"""Findings: one mistake or broken expectation, with everything needed to act on it."""

from __future__ import annotations

from enum import StrEnum

from scenario_kit.model.base import Value


class Severity(StrEnum):
    """Errors block a merge, warnings do not, notes inform."""

    ERROR = "Error"
    WARNING = "Warning"
    NOTE = "Note"


class Position(Value, frozen=True, kw_only=True):
    """A position in a file; line and column count from 1.

    For an object without a file, ``path`` is that of a field, and both are 0.
    """

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


class Finding(Value, frozen=True, kw_only=True):
    """A stable code with message, observed and expected value, reason and fix.

    ``related`` are further places that it is about, such as an opening bracket. ``fixable`` is set if ``lint --fix``
    corrects it.
    """

    code: str
    severity: Severity
    message: str
    position: Position | None = None
    related: tuple[Position, ...] = ()
    observed: str = ""
    expected: str = ""
    why: str = ""
    fix: str = ""
    step: str = ""
    trial: str = ""
    fixable: bool = False
