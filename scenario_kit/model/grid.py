"""The time grid of all measurements."""

from __future__ import annotations

from typing import Final

#: Seconds between two scrapes, two evaluations of alert rules, and two ticks of a virtual world.
GRID_SECONDS: Final = 15
#: GRID_SECONDS as a Prometheus duration.
GRID_DURATION: Final = f"{GRID_SECONDS}s"
#: Traffic window in seconds for judging passages and recovery (docs/validator.md).
TRAFFIC_SECONDS: Final = 300
#: Seconds of virtual time between two evaluations of alerts while a trial waits for them.
ALERT_POLL_SECONDS: Final = 60
