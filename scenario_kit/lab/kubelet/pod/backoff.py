"""Exponential back-off with the kubelet's parameters: 10 s, doubled up to 300 s, reset after 600 s.

Source: ``flowcontrol.Backoff`` of client-go and its use for containers and images in the kubelet. The first failure
does not wait: it only creates the entry.
"""

from __future__ import annotations

from typing import NamedTuple

INITIAL_SECONDS = 10.0
MAXIMUM_SECONDS = 300.0
#: An entry last updated longer ago than this is reset (twice the maximum).
FORGET_SECONDS = 2 * MAXIMUM_SECONDS


class BackOff(NamedTuple):
    """The current delay, and when it was set (seconds since the epoch)."""

    seconds: float
    updated: float

    def is_forgotten(self, at: float) -> bool:
        """Return whether an event at that time resets the back-off."""
        return at - self.updated > FORGET_SECONDS


def waits_until(entry: BackOff | None, event: float, now: float) -> float | None:
    """Return the earliest next attempt after an event (container exit, failed pull); None for now."""
    if entry is None or entry.is_forgotten(event):
        return None
    until = event + entry.seconds
    return until if now < until else None


def record_attempt(entry: BackOff | None, event: float, now: float) -> BackOff:
    """Return the entry after another attempt at ``now``, caused by an event at ``event``."""
    if entry is None or entry.is_forgotten(event):
        return BackOff(INITIAL_SECONDS, now)
    return BackOff(min(entry.seconds * 2, MAXIMUM_SECONDS), now)
