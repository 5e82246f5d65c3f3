"""Alerts of the moment, as Prometheus lists them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from scenario_kit.model import AlertHistory


def list_alerts(history: AlertHistory) -> list[dict[str, Any]]:
    """List what is pending or firing at the end of a history as ``/api/v1/alerts`` does: firing first, oldest first."""
    found = []
    for timeline in history.timelines:
        for state, intervals in (("firing", timeline.firing), ("pending", timeline.pending)):
            if begun := [each.start for each in intervals if each.end is None]:
                labels = {"alertname": timeline.name, **timeline.labels}
                waited = [each.start for each in timeline.pending if each.end == begun[-1]]
                found.append({"labels": labels, "state": state, "activeAt": format_time(min([*begun[-1:], *waited]))})
                break
    return sorted(found, key=lambda each: (each["state"], each["activeAt"], sorted(each["labels"].items())))


def format_time(at: float) -> str:
    """Format seconds since the epoch as RFC 3339."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
