"""Shift trial times by whole days, which hides the lab's epoch and keeps the time of day.

All times are seconds since the epoch, on the trial's or the snapshot's clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Final, NamedTuple

from scenario_kit.model.kubernetes.timestamp import parse_timestamp

_DAY: Final = 86400
#: Days around the recording whose dates may occur in texts.
_MARGIN: Final = 1


class TimeShift(NamedTuple):
    """Shift between trial and snapshot times, in whole days.

    ``start`` and ``end`` are those of the recording on the trial's clock; ``dates`` maps dates in texts.
    """

    seconds: int
    start: float
    end: float
    dates: Mapping[str, str]

    def shows(self, at: float) -> float:
        """Convert a trial time to snapshot time."""
        return at + self.seconds

    def is_own(self, at: float) -> bool:
        """Return whether a time is on the trial's clock, as opposed to the wall clock of the control plane."""
        return self.start - _DAY <= at <= self.end + _DAY

    def rename_number(self, digits: str) -> str:
        """Shift a number that is a time of the recording in seconds, milli-, micro- or nanoseconds."""
        scale = 10 ** (len(digits) - 10)
        at = int(digits) // scale
        return str(int(digits) + self.seconds * scale) if self.start - 1 <= at <= self.end + 1 else digits


def shift_to(first_day: date, start: float, end: float) -> TimeShift:
    """Shift a recording so that it begins on ``first_day``."""
    days = (first_day - date(1970, 1, 1)).days - int(start) // _DAY
    real = range(int(start) // _DAY - _MARGIN, int(end) // _DAY + 1 + _MARGIN)
    dates = {_format_date(day): _format_date(day + days) for day in real}
    return TimeShift(days * _DAY, start, end, dates)


def keep_times(start: float, end: float) -> TimeShift:
    """Return a shift that keeps all times."""
    return TimeShift(0, start, end, {})


def parse_time(text: str) -> float | None:
    """Parse a Kubernetes timestamp; None for any other text."""
    if not 20 <= len(text) <= 35 or text[4] != "-" or text[10] != "T" or text[-1] != "Z":
        return None
    try:
        return parse_timestamp(text)
    except ValueError:
        return None


def _format_date(day: int) -> str:
    return datetime.fromtimestamp(day * _DAY, UTC).strftime("%Y-%m-%d")
