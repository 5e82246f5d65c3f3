"""Events as sent by the kubelet's recorder: aggregated, and rate-limited per pod.

Source: ``tools/record`` of client-go: events that differ only in time are counted in one object; an object may send a
burst of 25 events and one every 300 s after that.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

from scenario_kit.lab.kubelet.pod.context import PodEvent
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.timestamp import format_timestamp

_BURST = 25.0
_SECONDS_PER_TOKEN = 300.0


@dataclass
class _Source:
    """The rate limit state of one pod."""

    tokens: float = _BURST
    refilled: float | None = None
    sent: dict[str, tuple[int, str]] = field(default_factory=dict)


class EventRecorder:
    """Convert events of pods into Event objects. Not thread-safe for one pod."""

    def __init__(self) -> None:
        self._sources: dict[str, _Source] = {}

    def record(self, pod: Object, event: PodEvent) -> Object | None:
        """Return the Event to create (``count`` 1) or update, or None if the pod exceeds its rate limit.

        The name is a hash of the aggregation key, so that a restart continues with the same objects.
        """
        meta = pod["metadata"]
        source = self._sources.setdefault(meta["uid"], _Source())
        if not _take(source, event.at):
            return None
        group = "initContainers" if event.init else "containers"
        path = f"spec.{group}{{{event.container}}}" if event.container else ""
        key = json.dumps([meta["uid"], path, event.type, event.reason, event.message])
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        at = format_timestamp(event.at)
        count, first = source.sent.get(digest, (0, at))
        source.sent[digest] = (count + 1, first)
        involved = {
            "kind": "Pod",
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
            "apiVersion": "v1",
            "resourceVersion": meta.get("resourceVersion", ""),
            **({"fieldPath": path} if path else {}),
        }
        host = pod["spec"]["nodeName"]
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{meta['name']}.{digest}", "namespace": meta["namespace"]},
            "involvedObject": involved,
            "type": event.type,
            "reason": event.reason,
            "message": event.message,
            "source": {"component": "kubelet", "host": host},
            "firstTimestamp": first,
            "lastTimestamp": at,
            "count": count + 1,
            "reportingComponent": "kubelet",
            "reportingInstance": host,
        }

    def forget(self, uid: str) -> None:
        """Drop the state of a deleted pod."""
        self._sources.pop(uid, None)


def _take(source: _Source, at: float) -> bool:
    if source.refilled is not None:
        gained = max(0.0, at - source.refilled) / _SECONDS_PER_TOKEN
        source.tokens = min(_BURST, source.tokens + gained)
    source.refilled = at if source.refilled is None else max(at, source.refilled)
    if source.tokens < 1:
        return False
    source.tokens -= 1
    return True
