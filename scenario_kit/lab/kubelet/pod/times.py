"""Time formats of the kubelet: RFC 3339 with seconds, and Go durations."""

from __future__ import annotations

from datetime import UTC, datetime

from scenario_kit.model.kubernetes.timestamp import parse_timestamp


def format_rfc3339_nano(seconds: float) -> str:
    """Format seconds since the epoch with nine decimals, as in container logs; the resolution is microseconds."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")


def parse_or(text: str | None, otherwise: float) -> float:
    """Parse a time from a status; ``otherwise`` if it is missing or invalid (other clients may write it)."""
    return parse_timestamp(text) if text else otherwise


def go_duration(seconds: float) -> str:
    """Format seconds as Go prints a ``time.Duration``: ``10s``, ``1m20s``, ``5m0s``, ``312ms``."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    if seconds < 60:
        return f"{seconds:.3f}".rstrip("0").rstrip(".") + "s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return (f"{hours}h" if hours else "") + f"{minutes}m{rest}s"
