"""The pause image: it exists, its process sleeps, listens to nothing and has no other program to start."""

from __future__ import annotations

from scenario_kit.lab.kubelet.image import images
from scenario_kit.lab.kubelet.image.processes import START_ERROR, Lagging, Processes, Stopping
from scenario_kit.model.base import Object
from scenario_kit.model.runtime.process import Exit, InitState, Lag, ProcessStart, Stop


class WithPause:
    """Processes that leave everything but the pause image to another implementation, which need not know that image."""

    def __init__(self, others: Processes) -> None:
        self._others = others

    def image_exists(self, image: str) -> bool:
        """Return True: the pause image always exists."""
        return images.is_pause(image) or self._others.image_exists(image)

    def has_program(self, image: str, program: str) -> bool:
        """Answer as the others do of every other image."""
        return not images.is_pause(image) and self._others.has_program(image, program)

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        """Sleep at once; a command of the image that it replaced is not found in it.

        The others are told too: they may keep account of what runs in a container.
        """
        start = self._others.start(pod, container, now)
        spec = _find_container(pod, container)
        if not images.is_pause(spec["image"]):
            return start
        if (spec.get("command") or ["/pause"])[0] != "/pause":
            return ProcessStart(0.0, Exit(pod["metadata"]["uid"], container, 128, START_ERROR))
        return ProcessStart(0.0)

    def init(self, pod: Object, container: str, now: float) -> InitState:
        """Sleep for ever, so the pod never gets initialised."""
        spec = _find_container(pod, container)
        if not images.is_pause(spec["image"]):
            return self._others.init(pod, container, now)
        return InitState("Running" if (spec.get("command") or ["/pause"])[0] == "/pause" else "Failed", 128)

    def stop(self, pod: Object, container: str, now: float) -> Stop:
        """End well: the pause process handles the signal. What runs counts, which the spec may have replaced."""
        entries = (pod.get("status") or {}).get("containerStatuses") or ()
        running = next((e["image"] for e in entries if e["name"] == container), "")
        if images.is_pause(running):
            return Stop(0.0, 0)
        return self._others.stop(pod, container, now) if isinstance(self._others, Stopping) else Stop()

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        """Return nothing listens, and there is no program for an exec probe."""
        if images.is_pause(_find_container(pod, container)["image"]):
            return False
        return self._others.answers(pod, container, port, path, now)

    def lag(self, pod: Object, container: str, path: str | None, now: float) -> Lag:
        """Answer as the others do, if they do: whoever asks the pause process has no answer to wait for."""
        return self._others.lag(pod, container, path, now) if isinstance(self._others, Lagging) else Lag()


def _find_container(pod: Object, name: str) -> Object:
    """Find the spec of a container that the pod has."""
    spec = pod["spec"]
    found: Object = next(c for c in [*spec["containers"], *(spec.get("initContainers") or ())] if c["name"] == name)
    return found
