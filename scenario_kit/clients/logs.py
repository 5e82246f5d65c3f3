"""Parser for log lines with the kubelet's timestamps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from scenario_kit.ports import LogLine

_LINE = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d) ?(.*)$")


def parse_lines(data: bytes, pod: str, container: str, since: float = 0.0) -> Iterator[LogLine]:
    """Parse the lines at or after ``since``. One without a timestamp continues the previous line and has its time."""
    at = since
    for raw in data.decode("utf-8", "replace").splitlines():
        text = raw
        if match := _LINE.match(raw):
            day, fraction, zone, text = match.groups()
            # fromisoformat accepts microseconds at most, the kubelet writes nanoseconds
            at = datetime.fromisoformat(day + zone.replace("Z", "+00:00")).timestamp() + float(f"0{fraction or '.0'}")
        if at >= since:
            yield LogLine(pod, container, at, text)
