"""Events and alerts at the end of a snapshot, as the API server and Prometheus return them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from scenario_kit.model import AlertHistory, AlertTimeline, Object
from scenario_kit.model.kubernetes.timestamp import parse_timestamp
from scenario_kit.model.runtime.observation import Interval
from scenario_kit.snapshot.reader import TableRow

#: Fields of events.k8s.io/v1 and their names in core/v1.
_CORE_NAMES: Final = {
    "regarding": "involvedObject", "note": "message", "deprecatedSource": "source", "deprecatedCount": "count",
    "deprecatedFirstTimestamp": "firstTimestamp", "deprecatedLastTimestamp": "lastTimestamp",
}  # fmt: skip


def list_events(rows: Iterable[TableRow]) -> list[Object]:
    """List events in their last state as core/v1; the table has each event once per API group."""
    found: dict[tuple[str, str], Object] = {}
    for row in rows:
        document = json.loads(row["Body"])
        body = document.get("object", document) if isinstance(document, dict) else {}
        meta = body.get("metadata") or {}
        key = (str(meta.get("namespace", "")), str(meta.get("name", "")))
        if document.get("type") == "DELETED":
            found.pop(key, None)
        elif meta.get("name"):
            found[key] = _spell_core(body)
    return [found[key] for key in sorted(found)]


def _spell_core(body: Object) -> Object:
    spelled = {_CORE_NAMES.get(key, key): value for key, value in body.items()}
    return {**spelled, "apiVersion": "v1", "kind": "Event"}


def build_history(alerts: Sequence[Mapping[str, Any]], now: float) -> AlertHistory:
    """Build a history that consists of the alerts at its end."""
    return AlertHistory(start=now, end=now, timelines=tuple(_build_timeline(each, now) for each in alerts))


def _build_timeline(alert: Mapping[str, Any], now: float) -> AlertTimeline:
    labels = {str(key): str(value) for key, value in (alert.get("labels") or {}).items()}
    since = (Interval(start=_read_time(str(alert.get("activeAt") or ""), now)),)
    name = labels.pop("alertname", "")
    if alert.get("state") == "pending":
        return AlertTimeline(name=name, labels=labels, pending=since)
    return AlertTimeline(name=name, labels=labels, firing=since)


def _read_time(text: str, now: float) -> float:
    """Parse a timestamp in UTC of up to nanosecond precision; ``now`` if it is missing or invalid."""
    try:
        return parse_timestamp(f"{text.rstrip('Zz')}+00:00")
    except ValueError:
        return now
