"""Timestamps of Kubernetes objects: RFC 3339 in UTC (``metav1.Time``), as seconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime


def parse_timestamp(text: str) -> float:
    """Parse an RFC 3339 timestamp; fractions beyond microseconds are cut off.

    Raises:
        ValueError: it is not a timestamp.
    """
    return datetime.fromisoformat(text).timestamp()


def format_timestamp(seconds: float) -> str:
    """Format as ``2026-01-31T10:00:00Z``; fractions of a second are cut off."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
