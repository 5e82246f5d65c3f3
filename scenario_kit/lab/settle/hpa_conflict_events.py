"""Takes back events that only the lab's hurry makes: no cluster whose controllers have their usual pauses has them.

The autoscalers' controller looks four times a second here, for worlds whose seconds pass as fast. On a busy machine it
then reads an autoscaler before its own last write has come round, and is refused with a conflict, which it tells in a
warning. It tries again and loses nothing; with its usual 15 s it would not have happened.
"""

from __future__ import annotations

import logging
import queue
import threading
from typing import Final

from scenario_kit.errors import ClusterError
from scenario_kit.lab.settle.hpa_pacing import KIND
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster

_LOG: Final = logging.getLogger(__name__)
_REASON: Final = "FailedUpdateStatus"
_CONFLICT: Final = "the object has been modified"
_POLL_SECONDS: Final = 0.5


class Hurried:
    """Deletes such events. ``heard`` is a listener of the store; ``run`` works in a thread of its own."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._found: queue.SimpleQueue[Reference] = queue.SimpleQueue()

    def heard(self, type_: str, kind: str, obj: Object) -> None:
        """Note an event that is to go."""
        if type_ == "PASSED" and kind == "Event" and _is_hpa_conflict(obj):
            meta = obj["metadata"]
            self._found.put(Reference("Event", meta["name"], meta["namespace"]))

    def run(self, stop: threading.Event) -> None:
        """Delete what was noted, until ``stop``."""
        while not stop.is_set():
            try:
                event = self._found.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
            try:
                self._cluster.delete(event)
            except ClusterError as error:
                _LOG.debug("%s stays: %s", event, error.message)


def _is_hpa_conflict(event: Object) -> bool:
    """Check whether an event tells of a conflict of the autoscalers' controller with itself."""
    about = event.get("involvedObject") or {}
    return about.get("kind") == KIND and event.get("reason") == _REASON and _CONFLICT in (event.get("message") or "")
