"""Exponential back-off between attempts, with the kubelet's numbers: 10 s, doubled up to 300 s, forgotten after 600 s.

Source: ``flowcontrol.Backoff`` in client-go and its use for containers and images in the kubelet. The first failure
never waits: it only creates the entry.
"""

from __future__ import annotations

from typing import NamedTuple

INITIAL_SECONDS = 10.0
MAXIMUM_SECONDS = 300.0
#: An entry whose last update is longer ago than this is forgotten (twice the maximum).
FORGET_SECONDS = 2 * MAXIMUM_SECONDS


class BackOff(NamedTuple):
    """The delay in force, and when it was set (seconds since the epoch)."""

    seconds: float
    updated: float

    def is_forgotten(self, at: float) -> bool:
        """Check whether an event at that time starts over."""
        return at - self.updated > FORGET_SECONDS


def waits_until(entry: BackOff | None, event: float, now: float) -> float | None:
    """Return when the next attempt after an event (a container's end, a failed pull) is allowed; None: now."""
    if entry is None or entry.is_forgotten(event):
        return None
    until = event + entry.seconds
    return until if now < until else None


def record_attempt(entry: BackOff | None, event: float, now: float) -> BackOff:
    """Return the entry once another attempt is made at ``now``, caused by an event at ``event``."""
    if entry is None or entry.is_forgotten(event):
        return BackOff(INITIAL_SECONDS, now)
    return BackOff(min(entry.seconds * 2, MAXIMUM_SECONDS), now)
