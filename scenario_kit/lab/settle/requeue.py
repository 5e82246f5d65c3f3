"""Wakes controllers that wait on the wall clock although what refused them has changed.

A ReplicaSet whose pods were refused is retried after up to minutes, whatever happens to the quota meanwhile. Any write
to it makes its controller try at once, so a neutral annotation is added and taken away again. Whether it tried shows in
its event ``FailedCreate``, or in its pods. The API server judges by its own copy of a quota, which may be older than
the quota: a refusal that names other limits than the quota has is no answer, and its controller is woken once more.

The scheduler tries a pod again when its claim is bound, but it may hear of that a moment before its own cache of claims
does (pkg/scheduler/util/assumecache; seen in about one case of sixty on a busy machine): it finds the claim unbound as
before, and looks again after five minutes. Any write to the claim makes it try at once.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Final

from scenario_kit.errors import NotFound
from scenario_kit.lab.informers.store import read_revision
from scenario_kit.lab.settle.settled.settle_context import Reason, list_claim_names
from scenario_kit.lab.settle.settled.workloads import STALE_REFUSAL
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster

ANNOTATION = "platform/checked"
#: How long (wall) a namespace must be unsettled before anybody is nudged, and between two nudges of one object.
AFTER_SECONDS = 0.5
_AGAIN_SECONDS = 1.0
#: What the chaos manager says of an experiment that selects nothing.
_UNSELECTED: Final = "Failed to select targets"
#: What an event says about the quota that refused a pod; limits of any number of resources are at the end.
_EXCEEDED: Final = re.compile(r"exceeded quota: (?P<quota>[a-z0-9.-]+), .*\blimited: (?P<limits>\S+)")


class Nudger:
    """Nudges, and remembers refusals. ``heard`` is a listener of the store."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._refused: dict[str, int] = {}
        self._nudged: dict[Reference, float] = {}
        self._hard: dict[tuple[str, str], Mapping[str, str]] = {}

    def heard(self, type_: str, kind: str, obj: Object) -> None:
        """Look whether an event is a refusal; who is gone needs no memory."""
        with self._lock:
            if type_ == "DELETED" and kind != "ResourceQuota":
                self._refused.pop(obj["metadata"].get("uid", ""), None)
            elif kind == "ResourceQuota":
                self._hard[_name(obj)] = {} if type_ == "DELETED" else (obj.get("spec") or {}).get("hard") or {}
            elif type_ == "PASSED" and kind == "Event" and _is_refusal(obj):
                if self._is_outdated(obj):
                    return
                uid = (obj.get("involvedObject") or {}).get("uid", "")
                self._refused[uid] = max(read_revision(obj), self._refused.get(uid, 0))

    def _is_outdated(self, event: Object) -> bool:
        """Check whether a quota refused by limits that it no longer has; only counts are compared, they have one
        spelling.
        """
        said = _EXCEEDED.search(event.get("message") or "")
        hard = self._hard.get((event["metadata"].get("namespace", ""), said["quota"])) if said else None
        if said is None or hard is None:
            return False
        limits = dict(part.split("=", 1) for part in said["limits"].rstrip(".,").split(",") if "=" in part)
        return any(v.isdigit() and str(hard.get(k, "")).isdigit() and str(hard[k]) != v for k, v in limits.items())

    def refused(self) -> Mapping[str, int]:
        """Return the revision of the last refusal, by the UID of who was: a controller (pods), an experiment
        (targets).
        """
        with self._lock:
            return dict(self._refused)

    def nudge(self, namespace: str, reasons: Iterable[Reason]) -> None:
        """Wake the controllers of pods among the reasons whose refusal is out of date, and the scheduler by the claims
        of pods for which there is room.
        """
        for reason in reasons:
            if reason.code == STALE_REFUSAL:
                self._touch(Reference(reason.kind, reason.name, namespace, "batch" if reason.kind == "Job" else "apps"))
            elif (reason.code, reason.kind) == ("Due", "Pod"):
                pod = self._cluster.get(Reference("Pod", reason.name, namespace))
                for name in list_claim_names(pod) if pod else ():
                    self._touch(Reference("PersistentVolumeClaim", name, namespace))

    def _touch(self, ref: Reference) -> None:
        with self._lock:
            if time.monotonic() - self._nudged.get(ref, 0.0) < _AGAIN_SECONDS:
                return
            self._nudged[ref] = time.monotonic()
        try:
            for value in ("true", None):
                self._cluster.patch(ref, {"metadata": {"annotations": {ANNOTATION: value}}})
        except NotFound:
            pass  # it went away, which settles the matter


def _is_refusal(event: Object) -> bool:
    """Check whether an event says that a pod was refused, or that an experiment has no targets.

    The second is how Chaos Mesh words it (controllers/common/records, controllers/utils/recorder).
    """
    reason = event.get("reason")
    return reason == "FailedCreate" or (reason == "Failed" and _UNSELECTED in (event.get("message") or ""))


def _name(obj: Object) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
