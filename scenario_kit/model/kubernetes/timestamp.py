"""Timestamps of Kubernetes objects: RFC 3339 in UTC (``metav1.Time``), as seconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Self, final


@final
class Timestamp(str):
    """A timestamp as it stands in a file, and its ``seconds`` since the epoch, parsed where the file is loaded."""

    __slots__ = ("seconds",)

    seconds: float

    def __new__(cls, text: str) -> Self:
        """Parse a timestamp.

        Raises:
            ValueError: it is not a timestamp.
        """
        self = super().__new__(cls, text)
        self.seconds = parse_timestamp(text)
        return self

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Parse a timestamp. Raises as the constructor."""
        return cls(data)

    def to_json(self) -> str:
        """Return the plain text."""
        return str(self)


def parse_timestamp(text: str) -> float:
    """Parse an RFC 3339 timestamp; fractions beyond microseconds are cut off.

    Raises:
        ValueError: it is not a timestamp.
    """
    return datetime.fromisoformat(text).timestamp()


def format_timestamp(seconds: float) -> str:
    """Format as ``2026-01-31T10:00:00Z``; fractions of a second are cut off."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
