"""Outcomes decided by the container runtime and the kernel before a program runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from scenario_kit.lab.kubelet.container import files
from scenario_kit.lab.kubelet.image import images, shell_idioms
from scenario_kit.lab.kubelet.image.processes import START_ERROR, Lagging, Processes, Stopping
from scenario_kit.lab.kubelet.pod.context import ConfigLookup
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.image import is_tool
from scenario_kit.model.kubernetes.pod_spec import find_container, find_volume, list_serving_containers, list_words
from scenario_kit.model.kubernetes.quantity import parse_quantity
from scenario_kit.model.kubernetes.status import list_serving_statuses
from scenario_kit.model.runtime.process import Exit, InitState, Lag, ProcessStart, Stop

#: Below this limit, the runtime's own first process is OOM-killed (Docker's minimum).
SMALLEST_MEMORY = 6 * 2**20
_CREATE = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
    "unable to start container process: "
)
#: Seconds until a program gives up on a port in use.
_BIND_SECONDS = 1.0


class WithRuntime:
    """Wrap ``Processes``: a process runs only if image, memory, ports and shared memory allow it."""

    def __init__(self, others: Processes, node: Object, objects: ConfigLookup, known: images.Images) -> None:
        self._others = others
        self._node = node
        self._objects = objects
        self._images = known

    def image_exists(self, image: str) -> bool:
        """Delegate; standard tool images exist, and a single-architecture image does if its multi-arch image does."""
        return is_tool(image) or self._others.image_exists(images.find_multi_arch_image(image))

    def has_program(self, image: str, program: str) -> bool:
        """Delegate."""
        return self._others.has_program(image, program)

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        """Return the failure of a process that cannot run; delegate otherwise."""
        spec = find_container(pod["spec"], container)
        failed = partial(Exit, pod["metadata"]["uid"], container)
        limit = ((spec.get("resources") or {}).get("limits") or {}).get("memory")
        if limit is not None and parse_quantity(limit) < SMALLEST_MEMORY:
            text = _CREATE + "container init was OOM-killed (memory limit too low?): unknown"
            return ProcessStart(0.0, failed(128, START_ERROR, text))
        program = next(iter(spec.get("command") or ()), "")
        if images.is_foreign(spec["image"], self._node):
            return _build_ended(failed, 0.0, 255, f"exec {program or '/entrypoint'}: exec format error")
        if self._images.lacks(spec["image"], program) and not self._others.has_program(spec["image"], program):
            return ProcessStart(0.0, failed(128, START_ERROR))
        if port := self._find_taken_port(pod, spec):
            return _build_ended(failed, _BIND_SECONDS, 1, f"listen tcp :{port}: bind: address already in use")
        if text := shell_idioms.format_overflow(list_words(spec), partial(self._measure_shared, pod, spec)):
            return _build_ended(failed, _BIND_SECONDS, 1, text)
        return self._others.start(pod, container, now)

    def init(self, pod: Object, container: str, now: float) -> InitState:
        """Decide here if the command checks or waits for a file of the pod; delegate otherwise."""
        spec = find_container(pod["spec"], container)
        found = shell_idioms.evaluate_script(
            list_words(spec), lambda path: files.read_file(pod, spec, path, self._objects)
        )
        return found or self._others.init(pod, container, now)

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        """Delegate."""
        return self._others.answers(pod, container, port, path, now)

    def stop(self, pod: Object, container: str, now: float) -> Stop:
        """Delegate if supported."""
        return self._others.stop(pod, container, now) if isinstance(self._others, Stopping) else Stop()

    def lag(self, pod: Object, container: str, port: int, path: str | None, now: float) -> Lag:
        """Delegate if supported."""
        return self._others.lag(pod, container, port, path, now) if isinstance(self._others, Lagging) else Lag()

    @staticmethod
    def _find_taken_port(pod: Object, spec: Object) -> int:
        """Find a port that another running container of the pod also declares; 0 if there is none."""
        running = {s["name"] for s in list_serving_statuses(pod) if "running" in s["state"]}
        others = [c for c in list_serving_containers(pod["spec"]) if c["name"] in running - {spec["name"]}]
        taken = {port for other in others for port in _read_ports(other)}
        return next((port for port in _read_ports(spec) if port in taken), 0)

    @staticmethod
    def _measure_shared(pod: Object, spec: Object, path: str) -> float:
        volume = find_volume(pod["spec"], spec, path)
        if volume is None:
            return shell_idioms.SHARED_MEMORY
        size = (volume.get("emptyDir") or {}).get("sizeLimit")
        return parse_quantity(size) if size is not None else float("inf")


def _build_ended(failed: Callable[..., Exit], after: float, code: int, text: str) -> ProcessStart:
    return ProcessStart(after, failed(code, "Error", text), (text,))


def _read_ports(spec: Object) -> list[int]:
    return [int(p["containerPort"]) for p in spec.get("ports") or () if p.get("protocol", "TCP") == "TCP"]
