"""The working state of one sync: a pod, its inputs, and the results so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from scenario_kit.lab.kubelet.image.images import Images
from scenario_kit.lab.kubelet.image.pause import WithPause
from scenario_kit.lab.kubelet.pod.pod_state import PodMemory
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import is_sidecar
from scenario_kit.model.kubernetes.status import is_terminating


class ConfigLookup(Protocol):
    """Objects of the pod's namespace that containers refer to."""

    def find(self, kind: str, name: str) -> Object | None:
        """Return the ConfigMap, Secret or PersistentVolumeClaim, or None if there is none.

        Must be authoritative: a cache must query the API server on a miss, or a pod created right after its ConfigMap
        would be refused.
        """


class PodEvent(NamedTuple):
    """An event of a pod, at its own time; ``container`` is empty for the pod as a whole."""

    at: float
    type: str
    reason: str
    message: str
    container: str = ""
    init: bool = False


class Line(NamedTuple):
    """A line of container output, at the pod's own time."""

    container: str
    at: float
    text: str


class Restarted(NamedTuple):
    """A new container instance: its log is empty, and the current log becomes the previous one."""

    container: str
    attempt: int
    at: float


@dataclass
class PodContext:
    """Mutable during one sync, not visible outside of it."""

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
        """Init containers in order, including sidecars."""
        return list(self.spec.get("initContainers") or ())

    @property
    def mains(self) -> list[Object]:
        """Regular containers."""
        return list(self.spec["containers"])

    @property
    def reference(self) -> str:
        """``name_namespace(uid)``, the kubelet's format in messages."""
        meta = self.pod["metadata"]
        return f"{meta['name']}_{meta['namespace']}({meta['uid']})"

    def entry(self, name: str) -> Object:
        """Return the status of a container.

        Raises:
            KeyError: the status has no entry, which ``status.fill`` prevents.
        """
        for key in ("containerStatuses", "initContainerStatuses"):
            for entry in self.status.get(key) or ():
                if entry["name"] == name:
                    found: Object = entry
                    return found
        raise KeyError(name)

    def current(self) -> Object:
        """Return the pod with its status so far, as an argument for processes."""
        return {**self.pod, "status": self.status}

    def tell(self, at: float, reason: str, message: str, container: str = "", *, warning: bool = False) -> None:
        """Record an event."""
        init = any(c["name"] == container for c in self.inits)
        self.events.append(PodEvent(at, "Warning" if warning else "Normal", reason, message, container, init))

    def should_restart(self, container: Object, code: int) -> bool:
        """Return whether the restart policy restarts a container that exited with this code."""
        if is_terminating(self.pod):
            return False
        if is_sidecar(container):
            return True
        policy = self.spec.get("restartPolicy", "Always")
        if any(c["name"] == container["name"] for c in self.inits):
            return code != 0 and policy != "Never"
        return bool(policy == "Always" or (policy == "OnFailure" and code != 0))
