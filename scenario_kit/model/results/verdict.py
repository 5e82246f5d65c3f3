"""Verdicts of validations."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


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

    @property
    def heading(self) -> str:
        """The verdict in upper case: ``NOT EVALUATED``."""
        return self.name.replace("_", " ")


#: Exit codes of several validations together, worst first.
_WORST: Final = tuple(
    verdict.exit_code for verdict in (Verdict.FAIL, Verdict.KIT_ERROR, Verdict.NOT_EVALUATED, Verdict.INCONCLUSIVE)
)


def choose_worst_code(codes: Iterable[int]) -> int:
    """Return the exit code of several validations together: the worst of theirs, 0 if all pass."""
    found = set(codes)
    return next((code for code in _WORST if code in found), 0)
