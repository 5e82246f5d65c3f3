"""Current alerts in Prometheus's format."""

from __future__ import annotations

from typing import Any

from scenario_kit.model import AlertHistory
from scenario_kit.model.kubernetes.timestamp import format_timestamp


def list_alerts(history: AlertHistory) -> list[dict[str, Any]]:
    """List the pending and firing alerts at the end of a history like ``/api/v1/alerts``: firing, then oldest first."""
    found = []
    for timeline in history.timelines:
        for state, intervals in (("firing", timeline.firing), ("pending", timeline.pending)):
            if begun := [each.start for each in intervals if each.end is None]:
                labels = {"alertname": timeline.name, **timeline.labels}
                waited = [each.start for each in timeline.pending if each.end == begun[-1]]
                active_at = format_timestamp(min([*begun[-1:], *waited]))
                found.append({"labels": labels, "state": state, "activeAt": active_at})
                break
    return sorted(found, key=lambda each: (each["state"], each["activeAt"], sorted(each["labels"].items())))
