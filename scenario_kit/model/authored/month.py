"""Calendar months of authored files."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Final, Self

_MONTH: Final = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


class Month(str):
    """A month as ``YYYY-MM``; months compare in order of time."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check a month.

        Raises:
            ValueError: the text is not a month.
        """
        if not _MONTH.fullmatch(text):
            raise ValueError(f"not a month: {text!r}, expected YYYY-MM")
        return super().__new__(cls, text)

    @classmethod
    def of_day(cls, day: date) -> Self:
        """Return the month of a day."""
        return cls(day.strftime("%Y-%m"))

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Parse a month. Raises as the constructor."""
        return cls(data)

    def to_json(self) -> str:
        """Return the plain text."""
        return str(self)
