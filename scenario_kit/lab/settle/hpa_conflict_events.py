"""Delete conflict events of the HPA controller that only the lab's short sync period causes.

The lab runs the controller with a sync period of 0.25 s. On a busy machine its informer cache may not have its own last
write yet; the next update then fails with a conflict, which it records as a warning event and retries. With the usual
period of 15 s there would be no such event.
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


class ConflictEventCleaner:
    """Delete such events. ``on_event`` is a store listener; ``run`` is a thread's main function."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._found: queue.SimpleQueue[Reference] = queue.SimpleQueue()

    def on_event(self, type_: str, kind: str, obj: Object) -> None:
        """Queue an event for deletion."""
        if type_ == "PASSED" and kind == "Event" and _is_hpa_conflict(obj):
            meta = obj["metadata"]
            self._found.put(Reference("Event", meta["name"], meta["namespace"]))

    def run(self, stop: threading.Event) -> None:
        """Delete queued events until ``stop``."""
        while not stop.is_set():
            try:
                event = self._found.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
            try:
                self._cluster.delete(event)
            except ClusterError as error:
                _LOG.debug("cannot delete %s: %s", event, error.message)


def _is_hpa_conflict(event: Object) -> bool:
    """Return whether an event records an update conflict of the HPA controller."""
    about = event.get("involvedObject") or {}
    return about.get("kind") == KIND and event.get("reason") == _REASON and _CONFLICT in (event.get("message") or "")
