"""What of an incident is written, and how much of it."""

from __future__ import annotations

import hashlib
from typing import Any, Final, Literal

from scenario_kit.model import Value

Signal = Literal["events", "logs", "metrics", "traces"]
SIGNALS: Final[tuple[Signal, ...]] = ("events", "logs", "metrics", "traces")


class SnapshotSettings(Value, frozen=True, kw_only=True):
    """What is written.

    ``without`` leaves signals out; alerts, objects and topology are always there. ``lite`` adds the short tables.
    ``trace_share`` is the share of traces that are kept, whole, by their identifiers; ``metric_seconds`` the distance
    of samples, a multiple of the 15 s at which they are taken.
    """

    without: tuple[Signal, ...] = ()
    lite: bool = True
    trace_share: float = 1.0
    metric_seconds: int = 15

    def keeps(self, signal: Signal) -> bool:
        """Check whether a signal is written."""
        return signal not in self.without

    def keeps_trace(self, trace_id: str) -> bool:
        """Check whether a trace is kept: by a sum over its identifier, so that the choice is the same everywhere."""
        return self.trace_share >= 1.0 or draw_share(trace_id) < self.trace_share

    def describe(self) -> dict[str, Any]:
        """Describe the settings as a manifest shows them."""
        return {
            "without": list(self.without),
            "lite": self.lite,
            "traceShare": self.trace_share,
            "metricSeconds": self.metric_seconds,
        }


def draw_share(*parts: object) -> float:
    """Draw a number in [0, 1) that follows from its parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
