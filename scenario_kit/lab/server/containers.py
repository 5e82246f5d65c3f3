"""Running containers for the chaos daemon; removes effects that end with a container or pod."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import NamedTuple

from scenario_kit.lab.chaos_daemon.ledger import EffectStore
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.status import list_container_statuses


class _ContainerPlace(NamedTuple):
    pod_uid: str
    namespace: str
    spec: Object


class RunningContainers:
    """A store listener: containers by ID, and cleanup of the ledger."""

    def __init__(self, effect_store: EffectStore) -> None:
        self._effect_store = effect_store
        self._lock = threading.Lock()
        self._pods: dict[str, frozenset[str]] = {}
        self._where: dict[str, _ContainerPlace] = {}

    def on_event(self, type_: str, kind: str, obj: Object) -> None:
        """Process a pod's change: ended containers lose their effects, a deleted pod loses all."""
        if kind != "Pod" or type_ == "PASSED":
            return
        meta = obj["metadata"]
        uid = meta["uid"]
        specs = {} if type_ == "DELETED" else _list_running(obj)
        running = frozenset(specs)
        with self._lock:
            ended = self._pods.get(uid, frozenset()) - running
            for container_id in ended:
                self._where.pop(container_id, None)
            self._where.update((each, _ContainerPlace(uid, meta["namespace"], spec)) for each, spec in specs.items())
            if type_ == "DELETED":
                self._pods.pop(uid, None)
            else:
                self._pods[uid] = running
        for container_id in sorted(ended):
            self._effect_store.forget_container(uid, container_id)
        if type_ == "DELETED":
            self._effect_store.forget_pod(uid)

    def pod_of(self, container_id: str) -> str | None:
        """Return the pod UID of a running container."""
        with self._lock:
            found = self._where.get(container_id)
        return found.pod_uid if found else None

    def namespace_of(self, container_id: str) -> str | None:
        """Return the namespace of a running container."""
        with self._lock:
            found = self._where.get(container_id)
        return found.namespace if found else None

    def spec_of(self, container_id: str) -> Object | None:
        """Return the spec of a running container."""
        with self._lock:
            found = self._where.get(container_id)
        return found.spec if found else None


def _list_running(pod: Object) -> Mapping[str, Object]:
    """Map the IDs of running containers to their specs."""
    status, spec = pod.get("status") or {}, pod["spec"]
    specs = {each["name"]: each for part in ("initContainers", "containers") for each in spec.get(part) or ()}
    entries = list_container_statuses(status)
    running = [e for e in entries if e.get("containerID") and "running" in (e.get("state") or {})]
    return {e["containerID"]: specs.get(e["name"], {"name": e["name"], "image": ""}) for e in running}
