"""Canonical objects of a snapshot: canonical names, versions that count visible changes only, and trial times.

The control plane writes wall-clock times. They are replaced by the tick of observation: by its start for creation and
deletion, and by its end for the conditions that follow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.model import Object
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.model.runtime.recording import RecordedTick
from scenario_kit.snapshot.canonical.names import NameMap
from scenario_kit.snapshot.canonical.times import TimeShift, parse_time

#: Annotation for the controller's own latency measurement, which is not reproducible.
_TRIGGER: Final = "endpoints.kubernetes.io/last-change-trigger-time"
_FIRST_VERSION: Final = 1000
#: Placeholder for heartbeat times of nodes.
_HEARTBEAT: Final = '"\\u0000heartbeat"'
_VERSION: Final = '"\\u0000version"'
#: Kinds whose generation is not reproducible.
_UNCOUNTED: Final = ("EndpointSlice", "Node")
_TRANSITIONS: Final = {"lastTransitionTime": ("status",), "lastUpdateTime": ("status", "reason", "message")}

Path = tuple[str, ...]


class ObjectKey(NamedTuple):
    """Key of an object, with canonical names."""

    kind: str
    namespace: str
    name: str


class ObjectState(NamedTuple):
    """A version of an object as JSON; ``at`` is its tick on the trial's clock."""

    key: ObjectKey
    at: float
    version: int
    text: str

    def show(self, at: str) -> str:
        """Return the JSON with heartbeats set to ``at``."""
        return self.text.replace(_HEARTBEAT, f'"{at}"')


class ObjectHistory:
    """Tracks the objects of a recording. ``current`` holds the existing ones."""

    def __init__(self, names: NameMap, shift: TimeShift) -> None:
        self._names = names
        self._shift = shift
        self._marks: dict[tuple[str, Path], tuple[Any, float]] = {}
        self._bodies: dict[ObjectKey, str] = {}
        self._counter = _FIRST_VERSION
        self.current: dict[ObjectKey, ObjectState] = {}
        self._by_real: dict[tuple[str, str, str], tuple[ObjectKey, str]] = {}

    def advance(self, tick: RecordedTick) -> Iterator[ObjectState]:
        """Process a tick and yield visible changes, by kind, namespace and name."""
        for removed in tick.removed:
            real = (removed.kind, removed.namespace, removed.name)
            key, _ = self._by_real.pop(real, (ObjectKey("", "", ""), ""))
            self.current.pop(key, None)
            self._bodies.pop(key, None)
        for key, body in sorted(self._read(tick), key=lambda found: found[0]):
            if self._bodies.get(key) == body:
                continue
            self._bodies[key] = body
            self._counter += 1
            state = ObjectState(key, tick.at, self._counter, body.replace(_VERSION, f'"{self._counter}"'))
            self.current[key] = state
            yield state

    def _read(self, tick: RecordedTick) -> Iterator[tuple[ObjectKey, str]]:
        for obj in tick.objects:
            meta = obj["metadata"]
            real = (obj["kind"], meta.get("namespace", ""), meta["name"])
            key = ObjectKey(obj["kind"], self._names.find(real[1]), self._names.find(real[2]))
            self._by_real[real] = (key, meta["uid"])
            yield key, self._spell(obj, tick.at)

    def _spell(self, obj: Object, at: float) -> str:
        """Serialise an object with a placeholder for its version; dates are shifted together with names."""
        uid, kind = obj["metadata"]["uid"], obj["kind"]
        # Objects of a list and of a watch have these two in different places.
        shown = {"apiVersion": obj["apiVersion"], "kind": kind, **self._convert(obj, at, uid, ())}
        shown["metadata"]["resourceVersion"] = "\0version"
        if kind in _UNCOUNTED:
            shown["metadata"].pop("generation", None)
        if kind == "EndpointSlice":
            # Depending on its timing, the controller writes the time or leaves the map empty.
            left = {k: v for k, v in (shown["metadata"].pop("annotations", None) or {}).items() if k != _TRIGGER}
            shown["metadata"] |= {"annotations": left} if left else {}
            shown["endpoints"] = sorted(map(self._place_endpoint, shown["endpoints"] or ()), key=self._order_endpoint)
        text = _dump(shown)
        return self._names.rename_beside(text, obj["metadata"]["name"]) if kind == "Pod" else self._names.rename(text)

    def _place_endpoint(self, endpoint: Object) -> Object:
        """Set the canonical node of an endpoint and drop topology hints."""
        pod = (endpoint.get("targetRef") or {}).get("name", "")
        shown: Object = {k: v for k, v in endpoint.items() if k not in ("zone", "hints")}
        if pod and "nodeName" in shown:
            shown["nodeName"] = self._names.nodes.get(pod, (shown["nodeName"], ""))[0]
        return shown

    def _order_endpoint(self, endpoint: Object) -> str:
        return self._names.rename(_dump(endpoint))

    def _convert(self, value: Any, at: float, uid: str, path: Path) -> Any:
        if isinstance(value, Mapping):
            where = (*path, str(value["type"])) if "status" in value and "type" in value else path
            shown = {}
            for key, item in value.items():
                if isinstance(item, str) and (when := parse_time(item)) is not None:
                    shown[key] = self._convert_time(value, key, when, at, uid, where)
                else:
                    shown[key] = self._convert(item, at, uid, (*where, key))
            return shown
        if isinstance(value, list):
            return [self._convert(item, at, uid, (*path, str(i))) for i, item in enumerate(value)]
        return value

    def _convert_time(self, around: Mapping[str, Any], key: str, when: float, at: float, uid: str, path: Path) -> str:
        if key == "lastHeartbeatTime":
            return "\0heartbeat"
        if self._shift.is_own(when):
            return str(around[key])
        parts = _TRANSITIONS.get(key) if "status" in around else None
        mark = tuple(around.get(name) for name in parts) if parts else when
        held = self._marks.get((uid, (*path, key)))
        if held is None or held[0] != mark:
            began = at - GRID_SECONDS if path[:1] == ("metadata",) else at
            held = self._marks[uid, (*path, key)] = (mark, began)
        return format_timestamp(held[1])


def _dump(value: Any) -> str:
    return json.dumps(value)
