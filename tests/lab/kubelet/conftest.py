from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from scenario_kit.lab.kubelet.image.images import ImageCache
from scenario_kit.lab.kubelet.pod.context import PodEvent
from scenario_kit.lab.kubelet.pod.pod_state import PodMemory
from scenario_kit.lab.kubelet.status import PodTransition, SyncInputs, compute_pod_status
from scenario_kit.model.base import Object
from scenario_kit.model.runtime.process import InitState, Lag, ProcessStart

T0 = 1_767_225_600.0  # 2026-01-01T00:00:00Z
NODE = {
    "metadata": {"name": "node-0"},
    "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.5"}]},
}


class Scripted:
    """Scripted processes. ``starts`` is keyed by container; ``ports`` are those that answer."""

    def __init__(self) -> None:
        self.absent: set[str] = set()
        self.starts: dict[str, Callable[[float], ProcessStart]] = {}
        self.inits: dict[str, Callable[[float], InitState]] = {}
        self.answering: Callable[[str, int, str | None, float], bool] = lambda *_: True
        self.start_calls: list[tuple[str, float]] = []
        self.lags = Lag()

    def has_program(self, image: str, program: str) -> bool:
        return False

    def image_exists(self, image: str) -> bool:
        return image not in self.absent

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        self.start_calls.append((container, now))
        return self.starts.get(container, lambda _: ProcessStart(0.0))(now)

    def init(self, pod: Object, container: str, now: float) -> InitState:
        return self.inits.get(container, lambda _: InitState("Succeeded"))(now)

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        return self.answering(container, port, path, now)

    def lag(self, pod: Object, container: str, port: int, path: str | None, now: float) -> Lag:
        return self.lags


class Objects(dict[tuple[str, str], Object]):
    def find(self, kind: str, name: str) -> Object | None:
        return self.get((kind, name))


@dataclass
class Bench:
    """One pod under the pure core; ``to`` lets time pass."""

    pod: Object
    processes: Scripted = field(default_factory=Scripted)
    objects: Objects = field(default_factory=Objects)
    images: ImageCache = field(default_factory=ImageCache)
    memory: PodMemory | None = None
    node: Object = field(default_factory=lambda: NODE)
    events: list[PodEvent] = field(default_factory=list)
    output: list[Any] = field(default_factory=list)
    last: PodTransition | None = None

    def to(self, seconds: float) -> Object:
        """Decide at T0 + seconds and make the result the pod's status."""
        self.last = compute_pod_status(
            self.pod,
            SyncInputs(self.node, self.objects, self.processes, self.images.of("app")),
            T0 + seconds,
            ip="10.244.0.7",
            memory=self.memory,
        )
        self.memory = self.last.memory
        self.events += self.last.events
        self.output += self.last.output
        for image, at in self.last.pulled:
            self.images.add("app", image, at)
        self.pod = {**self.pod, "status": self.last.status}
        return self.last.status

    def restart_kubelet(self) -> None:
        self.memory = None

    def container(self, name: str = "main") -> Object:
        status = self.pod["status"]
        entries = [*status.get("initContainerStatuses", ()), *status["containerStatuses"]]
        return next(e for e in entries if e["name"] == name)

    def condition(self, kind: str) -> Object:
        return next(c for c in self.pod["status"]["conditions"] if c["type"] == kind)

    def reasons(self) -> list[str]:
        return [e.reason for e in self.events]

    def waiting(self, name: str = "main") -> str:
        return str(self.container(name)["state"].get("waiting", {}).get("reason", ""))


def container(name: str = "main", **more: Any) -> Object:
    return {"name": name, "image": "ghcr.io/demo/app:1.0", "imagePullPolicy": "IfNotPresent", **more}


@pytest.fixture
def bench() -> Callable[..., Bench]:
    def make(*containers: Object, inits: tuple[Object, ...] = (), cached: bool = True, **spec: Any) -> Bench:
        mains = list(containers) or [container()]
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "app-1", "namespace": "app", "uid": "u-1", "generation": 1},
            "spec": {
                "nodeName": "node-0",
                "restartPolicy": "Always",
                "containers": mains,
                **({"initContainers": list(inits)} if inits else {}),
                **spec,
            },
            "status": {
                "phase": "Pending",
                "conditions": [
                    {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
                ],
            },
        }
        made = Bench(pod)
        if cached:
            for c in [*mains, *inits]:
                made.images.add("app", c["image"], T0 - 1)
        return made

    return make


@pytest.fixture
def make_container() -> Callable[..., Object]:
    return container
