"""Canonical events of a snapshot.

Kubelet events carry trial times, and every write is shown. Controller events carry wall-clock times, repeat with every
retry, and lag behind by queueing: each is shown once, at the tick of the change that it reports.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from scenario_kit.model import Object
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.model.runtime.recording import RecordedTick
from scenario_kit.snapshot.canonical.names import PULLED, NameMap
from scenario_kit.snapshot.canonical.times import TimeShift, parse_time

_NAME: Final = re.compile(r"[0-9a-z]+(?:[-.][0-9a-z]+)*")
_SCALED: Final = re.compile(r"Scaled (?:up|down) replica set (\S+) (?:from \d+ )?to (\d+)")
_REMOVAL: Final = ("SuccessfulDelete", "Killing", "TaintManagerEviction")
#: Component whose events concern only its own bookkeeping.
_BOOKKEEPER: Final = "ipallocator-repair-controller"
#: Maximum delay of an event after the change that it reports, in seconds.
_STALE_SECONDS: Final = 60.0
_TIMES: Final = ("lastTimestamp", "eventTime", "firstTimestamp")


class ShownEvent(NamedTuple):
    """A ``v1`` Event with the names of the snapshot; ``at`` is on the trial's clock, ``first`` marks a new object."""

    at: float
    first: bool
    body: Object


class EventHistory:
    """Tracks the events of a recording, and the changes that they may report.

    It must see a few ticks after ``end``, because kubelet events may be written late.
    """

    def __init__(self, names: NameMap, shift: TimeShift, end: float) -> None:
        self._names = names
        self._shift = shift
        self._end = end
        self._began: dict[str, float] = {}
        self._ended: dict[str, float] = {}
        self._changed: dict[str, float] = {}
        self._scaled: dict[tuple[str, int], float] = {}
        self._replicas: dict[str, int] = {}
        self._versions: dict[str, str] = {}
        self._shown: set[str] = set()
        self._pulls: dict[str, tuple[int, str | None]] = {}

    def advance(self, tick: RecordedTick) -> Iterator[ShownEvent]:
        """Process a tick and yield its events before the end, unordered."""
        self._record_changes(tick)
        for event in tick.events:
            about = str(event["involvedObject"].get("apiVersion", ""))
            if about.startswith(CHAOS_GROUP) or event.get("reportingComponent") == _BOOKKEEPER:
                continue
            at = next((t for name in _TIMES if (t := parse_time(event.get(name) or "")) is not None), None)
            if at is not None and self._shift.is_own(at):
                shown = self._show_own(event, at)
            else:
                shown = self._show_once(event, tick.at)
            if shown is not None and shown.at < self._end:
                yield shown

    def _record_changes(self, tick: RecordedTick) -> None:
        """Record when objects were created, changed and deleted."""
        since = tick.at - GRID_SECONDS
        for obj in tick.objects:
            name, meta = obj["metadata"]["name"], obj["metadata"]
            if not meta.get("namespace"):
                continue
            self._began.setdefault(name, since)
            self._changed[name] = since
            if meta.get("deletionTimestamp"):
                self._ended.setdefault(name, since)
            if obj["kind"] == "ReplicaSet" and (count := obj["spec"].get("replicas", 1)) != self._replicas.get(name):
                self._replicas[name] = count
                self._scaled[name, count] = since
        for removed in tick.removed:
            self._ended.setdefault(removed.name, since)

    def _show_own(self, event: Object, at: float) -> ShownEvent | None:
        """Return one write of an event with trial times."""
        match = PULLED.match(event.get("message", ""))
        pulled = match is not None and match["image"] in self._names.images
        if pulled and event["reason"] == "Pulling":
            return None
        count = int(event.get("count") or 1)
        key = f"{event['metadata']['namespace']} {event['metadata']['name']} {count}"
        if key in self._shown:
            return None
        self._shown.add(key)
        if match is not None and pulled:
            event = self._count_pull(event, match["image"])
        return ShownEvent(
            at, event.get("count", 1) == 1, self._rename(event, event.get("firstTimestamp") or format_timestamp(at))
        )

    def _count_pull(self, event: Object, image: str) -> Object:
        """Report every image as present on the node, because whether it was pulled depends on the placement."""
        about = event["involvedObject"]
        key = f"{about.get('uid')} {about.get('fieldPath')} {image}"
        count, first = self._pulls.get(key, (0, event.get("firstTimestamp")))
        self._pulls[key] = (count + 1, first)
        message = f'Container image "{image}" already present on machine'
        return {**event, "message": message, "count": count + 1, "firstTimestamp": first}

    def _show_once(self, event: Object, at: float) -> ShownEvent | None:
        """Return a controller event on its first occurrence."""
        involved, message = event["involvedObject"], self._names.rename(event.get("message", ""))
        about = self._names.find(involved.get("name", ""))
        key = json.dumps([involved["kind"], about, event["reason"], message])
        when = self._find_cause(event, at)
        if at - when > _STALE_SECONDS:  # a new event about an old change
            when = at - GRID_SECONDS
        key = f"{key} {when if _SCALED.match(event.get('message', '')) else ''}"
        if key in self._shown:
            return None
        self._shown.add(key)
        time = format_timestamp(when)
        micro = {"eventTime": time.replace("Z", ".000000Z")} if event.get("eventTime") else {}
        stamps = {} if micro else {"firstTimestamp": time, "lastTimestamp": time, "count": 1}
        # The instance contains the host name of the control plane.
        instance = {"reportingInstance": event.get("reportingComponent", "")} if event.get("reportingInstance") else {}
        return ShownEvent(when, True, self._rename({**event, **stamps, **micro, **instance}, time))

    def _find_cause(self, event: Object, at: float) -> float:
        """Return the time of the change that a controller event reports; by default, of the event."""
        message, reason = event.get("message", ""), event["reason"]
        if (scaled := _SCALED.match(message)) and (when := self._scaled.get((scaled[1], int(scaled[2])))) is not None:
            return when
        named = [name for name in _NAME.findall(message) if name in self._began]
        about = event["involvedObject"].get("name", "")
        if reason in _REMOVAL:
            return next((self._ended[name] for name in [*named, about] if name in self._ended), at)
        if named or event["involvedObject"]["kind"] == "Pod":
            return next((self._began[name] for name in [*named, about] if name in self._began), at)
        return self._changed.get(about, at)

    def _rename(self, event: Object, created: str) -> Object:
        involved = event["involvedObject"]
        pod = involved.get("name", "") if involved["kind"] == "Pod" else ""
        known = {k: v for k, v in event.items() if k != "metadata"}
        shown: Object = json.loads(self._names.rename_beside(json.dumps(known), pod))
        shown["involvedObject"].pop("resourceVersion", None)
        key = json.dumps([shown["involvedObject"], shown["reason"], shown.get("message"), shown.get("firstTimestamp")])
        digest = hashlib.sha256(key.encode()).hexdigest()
        space = self._names.find(event["metadata"]["namespace"])
        uid = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"
        meta = {
            "name": f"{shown['involvedObject'].get('name', '')}.{digest[:16]}",
            "namespace": space,
            "uid": uid,
            "creationTimestamp": self._names.rename(created),
        }
        return {"metadata": meta, **shown}
