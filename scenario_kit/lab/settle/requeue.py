"""Requeue objects whose controller or scheduler backs off on wall time although the obstacle is gone.

A ReplicaSet whose pods were refused is retried with a back-off of up to minutes, whatever happens to the quota. Any
write to it triggers a sync, so a neutral annotation is added and removed. The result is an event ``FailedCreate`` or
new pods. The API server's admission uses a cached quota: a refusal with limits other than the quota's is stale, and
the object is requeued once more.

The scheduler retries a pod when its claim is bound, but the event may precede the update of its own claim cache
(pkg/scheduler/util/assumecache; about one case in sixty on a busy machine). It then finds the claim unbound and waits
five minutes. Any write to the claim triggers a retry.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Final

from scenario_kit.errors import NotFound
from scenario_kit.lab.settle.checks.pods import DUE
from scenario_kit.lab.settle.checks.settle_context import Reason, list_claim_names
from scenario_kit.lab.settle.checks.workloads import STALE_REFUSAL
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.status import read_revision
from scenario_kit.ports import Cluster

ANNOTATION = "platform/checked"
#: Wall seconds that a namespace is unsettled before objects are requeued, and between requeues of one object.
AFTER_SECONDS = 0.5
_AGAIN_SECONDS = 1.0
#: The chaos manager's message for an experiment that selects nothing.
_UNSELECTED: Final = "Failed to select targets"
#: The quota and its limits (one or more resources) in the event of a refused pod.
_EXCEEDED: Final = re.compile(r"exceeded quota: (?P<quota>[a-z0-9.-]+), .*\blimited: (?P<limits>\S+)")


class Requeuer:
    """Requeue objects and track refusals. ``on_event`` is a store listener."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._refused: dict[str, int] = {}
        self._requeued: dict[Reference, float] = {}
        self._hard: dict[tuple[str, str], Mapping[str, str]] = {}

    def on_event(self, type_: str, kind: str, obj: Object) -> None:
        """Record a refusal or a quota; forget deleted objects."""
        with self._lock:
            if type_ == "DELETED" and kind != "ResourceQuota":
                self._refused.pop(obj["metadata"].get("uid", ""), None)
            elif kind == "ResourceQuota":
                self._hard[_key_of(obj)] = {} if type_ == "DELETED" else (obj.get("spec") or {}).get("hard") or {}
            elif type_ == "PASSED" and kind == "Event" and _is_refusal(obj):
                if self._is_outdated(obj):
                    return
                uid = (obj.get("involvedObject") or {}).get("uid", "")
                self._refused[uid] = max(read_revision(obj), self._refused.get(uid, 0))

    def _is_outdated(self, event: Object) -> bool:
        """Return whether a refusal names limits that the quota no longer has.

        Only counts are compared: other quantities have several spellings.
        """
        match = _EXCEEDED.search(event.get("message") or "")
        hard = self._hard.get((event["metadata"].get("namespace", ""), match["quota"])) if match else None
        if match is None or hard is None:
            return False
        limits = dict(part.split("=", 1) for part in match["limits"].rstrip(".,").split(",") if "=" in part)
        return any(v.isdigit() and str(hard.get(k, "")).isdigit() and str(hard[k]) != v for k, v in limits.items())

    def list_refusals(self) -> Mapping[str, int]:
        """Return the revision of the last refusal by UID: of a controller (pods) or an experiment (no targets)."""
        with self._lock:
            return dict(self._refused)

    def requeue(self, namespace: str, reasons: Iterable[Reason]) -> None:
        """Requeue controllers with stale refusals, and pods that could be scheduled by now (by their claims)."""
        for reason in reasons:
            if reason.code == STALE_REFUSAL:
                self._annotate(
                    Reference(reason.kind, reason.name, namespace, "batch" if reason.kind == "Job" else "apps")
                )
            elif (reason.code, reason.kind) == (DUE, "Pod"):
                pod = self._cluster.get(Reference("Pod", reason.name, namespace))
                for name in list_claim_names(pod) if pod else ():
                    self._annotate(Reference("PersistentVolumeClaim", name, namespace))

    def _annotate(self, ref: Reference) -> None:
        with self._lock:
            if time.monotonic() - self._requeued.get(ref, 0.0) < _AGAIN_SECONDS:
                return
            self._requeued[ref] = time.monotonic()
        try:
            for value in ("true", None):
                self._cluster.patch(ref, {"metadata": {"annotations": {ANNOTATION: value}}})
        except NotFound:
            pass  # deleted in the meantime


def _is_refusal(event: Object) -> bool:
    """Return whether an event says that a pod was refused or that an experiment selected nothing.

    For the message of Chaos Mesh, see controllers/common/records and controllers/utils/recorder.
    """
    reason = event.get("reason")
    return reason == "FailedCreate" or (reason == "Failed" and _UNSELECTED in (event.get("message") or ""))


def _key_of(obj: Object) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
