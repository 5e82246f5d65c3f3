"""Which container runs where, for the chaos daemon; and the end of effects that end with a container or a pod."""

from __future__ import annotations

import threading

from scenario_kit.lab.chaos_daemon import LedgerBook
from scenario_kit.model.base import Object


class RunningContainers:
    """A listener of the store: containers by id, and upkeep of the ledger."""

    def __init__(self, book: LedgerBook) -> None:
        self._book = book
        self._lock = threading.Lock()
        self._pods: dict[str, frozenset[str]] = {}
        self._where: dict[str, tuple[str, str]] = {}

    def heard(self, type_: str, kind: str, obj: Object) -> None:
        """A pod changed: containers that ended take their effects along, a pod that is gone takes everything."""
        if kind != "Pod" or type_ == "PASSED":
            return
        meta = obj["metadata"]
        uid = meta["uid"]
        running = frozenset() if type_ == "DELETED" else frozenset(_running(obj))
        with self._lock:
            ended = self._pods.get(uid, frozenset()) - running
            for container_id in ended:
                self._where.pop(container_id, None)
            self._where.update(dict.fromkeys(running, (uid, meta["namespace"])))
            if type_ == "DELETED":
                self._pods.pop(uid, None)
            else:
                self._pods[uid] = running
        for container_id in sorted(ended):
            self._book.forget_container(uid, container_id)
        if type_ == "DELETED":
            self._book.forget_pod(uid)

    def pod_of(self, container_id: str) -> str | None:
        """The UID of the pod that a running container belongs to."""
        with self._lock:
            found = self._where.get(container_id)
        return found[0] if found else None

    def namespace_of(self, container_id: str) -> str | None:
        """The namespace that a running container is in."""
        with self._lock:
            found = self._where.get(container_id)
        return found[1] if found else None


def _running(pod: Object) -> list[str]:
    status = pod.get("status") or {}
    entries = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    return [e["containerID"] for e in entries if e.get("containerID") and "running" in (e.get("state") or {})]
