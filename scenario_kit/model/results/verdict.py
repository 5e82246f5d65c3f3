"""Verdicts of validations."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The five possible results of a validation, each with an exit code (docs/command-line.md)."""

    PASS = "Pass"
    FAIL = "Fail"
    NOT_EVALUATED = "NotEvaluated"
    KIT_ERROR = "KitError"
    INCONCLUSIVE = "Inconclusive"

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 2 not evaluated, 3 kit error, 4 inconclusive."""
        return list(Verdict).index(self)
