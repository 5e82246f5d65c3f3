"""The control loop's record of a pod, and the detection of changes."""

from __future__ import annotations

from dataclasses import dataclass, field

from scenario_kit.lab.kubelet.pod import conditions
from scenario_kit.lab.kubelet.pod.pod_state import PodMemory
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.status import read_revision
from scenario_kit.model.runtime.process import Exit


@dataclass
class Record:
    """A pod that is bound to a node.

    ``status`` is the last status written, ``stored`` the pod in the API server after that write, ``shown`` whether it
    has a folder for its logs.
    """

    pod: Object
    dirty: bool = True
    status: Object | None = None
    stored: Object | None = None
    memory: PodMemory | None = None
    ip: str = ""
    shown: bool = False
    deaths: list[tuple[float, Exit]] = field(default_factory=list)

    @property
    def wakeup(self) -> float | None:
        """When the pod is due next."""
        return self.memory.wakeup if self.memory else None

    def current(self) -> Object:
        """Return the pod as observed, with the last written status, which may be newer than the watch's."""
        if self.status is None:
            return self.pod
        foreign = [c for c in list_conditions(self.pod) if c["type"] not in conditions.OWN]
        own = [c for c in self.status["conditions"] if c["type"] in conditions.OWN]
        return {**self.pod, "status": {**self.status, "conditions": [*foreign, *own]}}

    def is_altered(self) -> bool:
        """Return whether another client has written fields of the status that the kubelet owns."""
        if self.stored is None or read_revision(self.pod) <= read_revision(self.stored):
            return False
        return select_owned(self.pod) != select_owned(self.stored)

    def patch_to(self, status: Object) -> Object:
        """Return the merge patch from the stored status to ``status``."""
        if not self.is_altered():
            return diff_status(self.current().get("status") or {}, status)
        live = self.pod.get("status") or {}
        return diff_status(live, {**status, **_select_foreign(live)})

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return str(self.pod["metadata"]["namespace"])

    @property
    def node(self) -> str:
        """The name of the pod's node."""
        return str(self.pod["spec"]["nodeName"])


#: The status fields owned by the kubelet, besides its conditions.
OWNED = (
    "phase", "reason", "message", "qosClass", "startTime", "hostIP", "hostIPs", "podIP", "podIPs", "observedGeneration",
    "containerStatuses", "initContainerStatuses",
)  # fmt: skip


def select_owned(pod: Object) -> Object:
    """Return the part of a status owned by the kubelet; absent and empty fields are equal."""
    status = pod.get("status") or {}
    fields = {key: status[key] for key in OWNED if status.get(key)}
    own = {c["type"]: c for c in list_conditions(pod) if c.get("type") in conditions.OWN}
    return {**fields, "conditions": own}


def _select_foreign(status: Object) -> Object:
    return {key: value for key, value in status.items() if key not in OWNED and key != "conditions"}


def list_conditions(pod: Object) -> list[Object]:
    """List the conditions in a pod's status."""
    return list((pod.get("status") or {}).get("conditions") or ())


def extract_essence(pod: Object) -> tuple[object, ...]:
    """Return the parts of a pod that other clients may change and that require a sync."""
    meta = pod["metadata"]
    foreign = [(c["type"], c["status"]) for c in list_conditions(pod) if c["type"] not in conditions.OWN]
    return meta.get("generation"), meta.get("deletionTimestamp"), meta.get("deletionGracePeriodSeconds"), foreign


def diff_status(before: Object, after: Object) -> Object:
    """Return the merge patch between two statuses, at the level of their fields."""
    patch = {key: value for key, value in after.items() if before.get(key) != value}
    return {**patch, **{key: None for key in before if key not in after}}
