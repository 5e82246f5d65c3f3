"""The grid of time on which everything is measured."""

from __future__ import annotations

from typing import Final

#: Seconds between two scrapes, two evaluations of alert rules, and two ticks of a virtual world.
GRID_SECONDS: Final = 15
#: The same, as Prometheus writes durations.
GRID_DURATION: Final = f"{GRID_SECONDS}s"
#: Seconds of traffic from which passages and recovery are judged (docs/validator.md).
TRAFFIC_SECONDS: Final = 300
#: Seconds that time moves between two looks while a trial waits for alerts.
LOOK_SECONDS: Final = 60
