"""What the kubelet asks about processes: does an image exist, how does a process come up, does it answer a probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from scenario_kit.lab.twin.census import Census
from scenario_kit.lab.twin.connections import dial, read
from scenario_kit.lab.twin.flags import Active
from scenario_kit.lab.twin.network import Network
from scenario_kit.lab.twin.parameters import Parameters
from scenario_kit.lab.twin.phrases import cause
from scenario_kit.lab.twin.process import Process, ProcessKey
from scenario_kit.lab.twin.view import View
from scenario_kit.lab.twin.waiting import script, waits
from scenario_kit.model.base import Object
from scenario_kit.model.image import normalised
from scenario_kit.model.process import Exit, InitState, LogRecord, Start

_KILLED_AFTER = 1.0


class Startup:
    """Answers the kubelet's questions from the last view. ``lines`` collects what starting processes print."""

    def __init__(self, parameters: Parameters, images: Sequence[str], census: Census) -> None:
        self._parameters = parameters
        self._images = {normalised(image) for image in (*images, *parameters.images)}
        self._census = census
        self.lines: list[LogRecord] = []

    def image_exists(self, image: str) -> bool:
        """Whether the image is one of the application's, of the platform's, or does nothing (pause images)."""
        name = normalised(image)
        return name in self._images or any(fnmatchcase(name, pattern) for pattern in self._parameters.idle_images)

    def start(self, view: View, network: Network, pod: Object, container: str, now: float) -> Start:
        """How a container's process comes up that is started now."""
        spec = _container(pod, container)
        process = self._census.born(view, pod, spec, now)
        after, ending = self._ending(process, network, now)
        if ending is None:
            for text in process.model.banner if process.model else ():
                port = next((entry.number for entry in process.listeners), 0)
                self._print(process, process.ready_at, text.replace("{port}", str(port)))
            return Start(process.ready_at - now)
        process.ready_at = float("inf")
        self._print(process, now + after, ending.text)
        return Start(after, ending)

    def init(self, view: View, network: Network, pod: Object, container: str, now: float) -> InitState:
        """The state of an init container: those that wait for a port or a name run until it is there."""
        self._census.files(view, pod)
        spec = _container(pod, container)
        if any(fnmatchcase(normalised(spec["image"]), pattern) for pattern in self._parameters.idle_images):
            return InitState("Running")
        found = script(view, pod, spec)
        for wait in waits(found):
            state = wait.state(pod, network, now)
            if state is not None:
                return state
        return InitState("Succeeded")

    def answers(
        self,
        effects: Mapping[ProcessKey, Sequence[Active]],
        pod: Object,
        container: str,
        port: int,
        path: str | None,
        now: float,
    ) -> bool:
        """Whether a probe of a running container succeeds."""
        process = self._census.find(pod["metadata"]["uid"], container)
        if process is None or process.ended or now < process.ready_at:
            return False
        if path is not None and path.startswith("exec:"):
            return not process.idle
        listener = process.listener(port)
        if listener is None:
            return False
        if path is None or process.model is None:
            return True
        if path.startswith("grpc:"):
            ill = any(effect.unhealthy for effect in effects.get(process.key, ()))
            return listener.protocol in ("grpc", "tcp") and not ill
        return listener.protocol in ("http", "tcp") and any(fnmatchcase(path, pattern) for pattern in listener.paths)

    def _ending(self, process: Process, network: Network, now: float) -> tuple[float, Exit | None]:
        """How the start fails, and after how many seconds; None when it does not."""
        model = process.model
        if model is None or process.idle:
            return 0.0, None
        limit = process.limit("memory")
        if limit is not None and model.memory_mib * 2.0**20 > limit:
            return _KILLED_AFTER, Exit(process.key.pod_uid, process.key.container, 137, "OOMKilled")
        for pattern in model.start.env:
            variable = _missing(process, pattern)
            if variable:
                text = model.start.env_text.replace("{variable}", variable)
                return model.start.after_seconds, self._exit(process, model.start.env_code, text)
        for callee in model.start.callees:
            words = self._unreachable(process, callee, network, now)
            if words:
                text = model.start.callee_text.replace("{cause}", words)
                return model.start.after_seconds, self._exit(process, model.start.callee_code, text)
        return 0.0, None

    def _unreachable(self, process: Process, callee: str, network: Network, now: float) -> str:
        """Why a process cannot reach a callee when it starts; an empty text if it can."""
        edge = next(e for e in self._parameters.edges if (e.caller, e.callee) == (process.component, callee))
        address = read(edge.address, process)
        lanes, ip = dial(edge, address, process, network)
        lanes = tuple(
            lane._replace(outcome="refused") if lane.outcome == "ok" and lane.ready_at > now else lane for lane in lanes
        )
        if any(lane.outcome == "ok" for lane in lanes):
            return ""
        dialect = process.model.dialect if process.model else ""
        return cause(
            dialect, lanes[0].outcome, edge.protocol, host=address.host, port=address.port, ip=ip, user=address.user
        )

    @staticmethod
    def _exit(process: Process, code: int, text: str) -> Exit:
        return Exit(process.key.pod_uid, process.key.container, code, "Error", text)

    def _print(self, process: Process, t: float, text: str) -> None:
        self.lines += [LogRecord(process.name, process.key.container, t, line) for line in text.splitlines()]


def _missing(process: Process, pattern: str) -> str:
    """A variable that the pattern demands and that is empty or not there."""
    if "*" not in pattern:
        return "" if process.env.get(pattern) else pattern
    defined = [e["name"] for e in process.spec.get("env") or () if fnmatchcase(e["name"], pattern)]
    return next((name for name in defined if not process.env.get(name)), "")


def _container(pod: Object, name: str) -> Object:
    spec = pod["spec"]
    everything = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return msgspec.to_builtins(next(c for c in everything if c["name"] == name))  # type: ignore[no-any-return]
