"""``k8s_events_raw.tsv``: every write of an Event in both API groups, as delivered by a watch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from scenario_kit.model import Object
from scenario_kit.snapshot.canonical.events import ShownEvent
from scenario_kit.snapshot.canonical.times import TimeShift
from scenario_kit.snapshot.files.columns import Row, build_log_cells

_SCOPE: Final = "otelcol/k8sobjectsreceiver"
_OLD: Final = ("involvedObject", "message", "source", "firstTimestamp", "lastTimestamp", "count")


def list_event_rows(event: ShownEvent, shift: TimeShift) -> Iterator[Row]:
    """Yield the two rows of a write, with a resource version derived from the time."""
    meta = {**event.body["metadata"], "resourceVersion": str(int(shift.shows(event.at)))}
    body = {**event.body, "metadata": meta}
    kind = "ADDED" if event.first else "MODIFIED"
    attributes = {"event.domain": "k8s", "event.name": meta["name"], "k8s.resource.name": "events"}
    for rank, shown in enumerate((_spell_core(body), _spell_events(body))):
        text = json.dumps({"object": shown, "type": kind})
        order = (meta["namespace"], meta["name"], int(body.get("count") or 1), rank)
        cells = build_log_cells(
            shift.shows(event.at), text, resource={"k8s.namespace.name": meta["namespace"]}, scope=(_SCOPE, ""),
            attributes=attributes,
        )  # fmt: skip
        yield Row(event.at, order, cells)


def _spell_core(body: Object) -> Object:
    rest = {k: v for k, v in body.items() if k not in ("metadata", "apiVersion", "kind")}
    return {"apiVersion": "v1", "kind": "Event", "metadata": body["metadata"], **rest}


def _spell_events(body: Object) -> Object:
    """Convert an event to ``events.k8s.io/v1``."""
    renamed: dict[str, Any] = {
        "regarding": body["involvedObject"],
        "note": body.get("message", ""),
        "deprecatedSource": body.get("source") or {},
        "deprecatedFirstTimestamp": body.get("firstTimestamp"),
        "deprecatedLastTimestamp": body.get("lastTimestamp"),
        "deprecatedCount": body.get("count"),
    }
    rest = {k: v for k, v in body.items() if k not in (*_OLD, "metadata", "apiVersion", "kind")}
    shown = {k: v for k, v in renamed.items() if v is not None}
    return {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": body["metadata"], **rest, **shown}
