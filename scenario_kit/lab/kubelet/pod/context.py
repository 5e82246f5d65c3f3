"""The working state of one decision: a pod, what it may look up, and what has been decided so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from scenario_kit.lab.kubelet.image.images import Images
from scenario_kit.lab.kubelet.image.pause import WithPause
from scenario_kit.lab.kubelet.pod.pod_state import PodMemory
from scenario_kit.model.base import Object


class ConfigLookup(Protocol):
    """Objects of the pod's namespace that a container's configuration may name."""

    def find(self, kind: str, name: str) -> Object | None:
        """Find the ConfigMap, Secret or PersistentVolumeClaim, or None when there is none.

        Must be authoritative: a cache that misses asks the API server, or a pod that is created right after its
        ConfigMap would be refused for nothing.
        """


class PodEvent(NamedTuple):
    """An event about a pod, at its own time; ``container`` is empty for the pod as a whole."""

    at: float
    type: str
    reason: str
    message: str
    container: str = ""
    init: bool = False


class Line(NamedTuple):
    """A line that a container printed, at the pod's own time."""

    container: str
    at: float
    text: str


class Restarted(NamedTuple):
    """A container instance that began; its log starts empty and the log before becomes the previous one."""

    container: str
    attempt: int
    at: float


@dataclass
class PodContext:
    """Mutable while one decision is made, never seen outside of it."""

    pod: Object
    node: Object
    objects: ConfigLookup
    processes: WithPause
    images: Images
    ip: str
    memory: PodMemory
    status: Object
    events: list[PodEvent] = field(default_factory=list)
    output: list[Line | Restarted] = field(default_factory=list)
    pulled: list[tuple[str, float]] = field(default_factory=list)

    @property
    def spec(self) -> Object:
        """The pod's spec."""
        spec: Object = self.pod["spec"]
        return spec

    @property
    def inits(self) -> list[Object]:
        """Init containers in order, sidecars included."""
        return list(self.spec.get("initContainers") or ())

    @property
    def mains(self) -> list[Object]:
        """Regular containers."""
        return list(self.spec["containers"])

    @property
    def reference(self) -> str:
        """``name_namespace(uid)``, as the kubelet names pods in messages."""
        meta = self.pod["metadata"]
        return f"{meta['name']}_{meta['namespace']}({meta['uid']})"

    def entry(self, name: str) -> Object:
        """Return the status of a container.

        Raises:
            KeyError: the status has none, which ``status.fill`` rules out.
        """
        for key in ("containerStatuses", "initContainerStatuses"):
            for entry in self.status.get(key) or ():
                if entry["name"] == name:
                    found: Object = entry
                    return found
        raise KeyError(name)

    def current(self) -> Object:
        """Return the pod with the status as decided so far, for questions to processes."""
        return {**self.pod, "status": self.status}

    def tell(self, at: float, reason: str, message: str, container: str = "", *, warning: bool = False) -> None:
        """Record an event."""
        init = any(c["name"] == container for c in self.inits)
        self.events.append(PodEvent(at, "Warning" if warning else "Normal", reason, message, container, init))

    def should_restart(self, container: Object, code: int) -> bool:
        """Check whether the restart policy starts a container again that ended with this code."""
        if self.pod["metadata"].get("deletionTimestamp"):
            return False
        if is_sidecar(container):
            return True
        policy = self.spec.get("restartPolicy", "Always")
        if any(c["name"] == container["name"] for c in self.inits):
            return code != 0 and policy != "Never"
        return bool(policy == "Always" or (policy == "OnFailure" and code != 0))


def is_sidecar(container: Mapping[str, object]) -> bool:
    """Check whether it is an init container that runs as long as the pod."""
    return container.get("restartPolicy") == "Always"
