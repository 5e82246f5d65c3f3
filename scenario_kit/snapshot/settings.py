"""Settings of a snapshot."""

from __future__ import annotations

import hashlib
from typing import Any, Final, Literal

from scenario_kit.model import Value

Signal = Literal["events", "logs", "metrics", "traces"]
SIGNALS: Final[tuple[Signal, ...]] = ("events", "logs", "metrics", "traces")


class SnapshotSettings(Value, frozen=True, kw_only=True):
    """Settings of a snapshot.

    ``without`` omits signals; alerts, objects and topology are always written. ``lite`` adds the short tables.
    ``trace_share`` is the fraction of traces to keep, chosen by identifier; ``metric_seconds`` the sample interval, a
    multiple of the 15 s scrape interval.
    """

    without: tuple[Signal, ...] = ()
    lite: bool = True
    trace_share: float = 1.0
    metric_seconds: int = 15

    def keeps(self, signal: Signal) -> bool:
        """Return whether a signal is written."""
        return signal not in self.without

    def keeps_trace(self, trace_id: str) -> bool:
        """Return whether a trace is kept; the choice depends on its identifier only."""
        return self.trace_share >= 1.0 or draw_share(trace_id) < self.trace_share

    def describe(self) -> dict[str, Any]:
        """Return the settings for the manifest."""
        return {
            "without": list(self.without),
            "lite": self.lite,
            "traceShare": self.trace_share,
            "metricSeconds": self.metric_seconds,
        }


def draw_share(*parts: object) -> float:
    """Draw a number in [0, 1) that depends only on the arguments."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
