"""The pause image: its process sleeps, has no open port, and the image contains no other program."""

from __future__ import annotations

from scenario_kit.lab.kubelet.image import images
from scenario_kit.lab.kubelet.image.processes import START_ERROR, Lagging, Processes, Stopping
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import find_container
from scenario_kit.model.kubernetes.status import list_serving_statuses
from scenario_kit.model.runtime.process import Exit, InitState, Lag, ProcessStart, Stop


class WithPause:
    """Wrap ``Processes`` with the pause image; delegate all other images."""

    def __init__(self, others: Processes) -> None:
        self._others = others

    def image_exists(self, image: str) -> bool:
        """Return True: the pause image always exists."""
        return images.is_pause(image) or self._others.image_exists(image)

    def has_program(self, image: str, program: str) -> bool:
        """Delegate."""
        return not images.is_pause(image) and self._others.has_program(image, program)

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        """Sleep; a command other than the pause process is not found in the image.

        The call is delegated as well: the wrapped processes may track containers.
        """
        start = self._others.start(pod, container, now)
        spec = find_container(pod["spec"], container)
        if not images.is_pause(spec["image"]):
            return start
        if (spec.get("command") or ["/pause"])[0] != "/pause":
            return ProcessStart(0.0, Exit(pod["metadata"]["uid"], container, 128, START_ERROR))
        return ProcessStart(0.0)

    def init(self, pod: Object, container: str, now: float) -> InitState:
        """Never complete."""
        spec = find_container(pod["spec"], container)
        if not images.is_pause(spec["image"]):
            return self._others.init(pod, container, now)
        return InitState("Running" if (spec.get("command") or ["/pause"])[0] == "/pause" else "Failed", 128)

    def stop(self, pod: Object, container: str, now: float) -> Stop:
        """Exit with 0: the pause process handles SIGTERM. The running image counts, not the current spec."""
        running = next((e["image"] for e in list_serving_statuses(pod) if e["name"] == container), "")
        if images.is_pause(running):
            return Stop(0.0, 0)
        return self._others.stop(pod, container, now) if isinstance(self._others, Stopping) else Stop()

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        """Return False: there is no open port, and no program for an exec probe."""
        if images.is_pause(find_container(pod["spec"], container)["image"]):
            return False
        return self._others.answers(pod, container, port, path, now)

    def lag(self, pod: Object, container: str, port: int, path: str | None, now: float) -> Lag:
        """Delegate if supported; the pause process never responds."""
        return self._others.lag(pod, container, port, path, now) if isinstance(self._others, Lagging) else Lag()
