"""The kubelet's in-memory state of a pod: timers, back-offs, probe runs. A restart rebuilds it."""

from __future__ import annotations

from dataclasses import dataclass, field

from scenario_kit.lab.kubelet.image.processes import Processes
from scenario_kit.lab.kubelet.pod import times
from scenario_kit.lab.kubelet.pod.backoff import INITIAL_SECONDS, MAXIMUM_SECONDS, BackOff
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.status import list_container_statuses
from scenario_kit.model.runtime.process import Exit


@dataclass
class ProbeMemory:
    """One probe of a container instance. ``result`` is None until a threshold is met; ``hold`` stops probing."""

    next_at: float
    result: bool | None = None
    last: bool | None = None
    run: int = 0
    hold: bool = False


@dataclass
class ContainerMemory:
    """One container. ``crash`` and ``pull`` are back-offs for ``image``; another image resets them.

    ``due`` is the next attempt to start; ``exit_at`` when the process ends, with ``exit``; ``poll_at`` when an init
    container is polled; ``pull_done_at`` the end of the current pull; ``stopping`` is set from SIGTERM to the exit.

    ``finished_before`` is the end of the instance before the last one. ``spared`` is true if the kubelet itself ended
    the last one and starts the next at once; ``refused`` after a start was deferred.
    """

    image: str = ""
    due: float | None = None
    finished_at: float | None = None
    finished_before: float | None = None
    spared: bool = False
    refused: bool = False
    exit: Exit | None = None
    exit_at: float | None = None
    poll_at: float | None = None
    stopping: bool = False
    crash: BackOff | None = None
    pull: BackOff | None = None
    pull_message: str = ""
    pull_started_at: float | None = None
    pull_done_at: float | None = None
    probes: dict[str, ProbeMemory] = field(default_factory=dict)

    def wakeups(self) -> list[float]:
        """Return the due times of all timers."""
        timers = [self.due, self.exit_at, self.poll_at, *(p.next_at for p in self.probes.values() if not p.hold)]
        return [t for t in timers if t is not None]


@dataclass
class PodMemory:
    """One pod. ``mount_due`` is the next mount attempt, ``ready_from`` when its volumes were mounted, and ``stop_at``
    the end of a deleted pod's containers.
    """

    containers: dict[str, ContainerMemory] = field(default_factory=dict)
    mount_failures: int = 0
    mount_due: float | None = None
    ready_from: float | None = None
    stop_at: float | None = None
    wakeup: float | None = None

    def of(self, container: str) -> ContainerMemory:
        """Return the memory of a container; create it if missing."""
        return self.containers.setdefault(container, ContainerMemory())


def recall(pod: Object, processes: Processes, now: float) -> PodMemory:
    """Rebuild the memory from a pod's status, after a restart of the kubelet."""
    memory = PodMemory()
    spec, status = pod["spec"], pod.get("status") or {}
    images = {c["name"]: c["image"] for c in [*(spec.get("initContainers") or ()), *spec["containers"]]}
    for entry in list_container_statuses(status):
        own = memory.of(entry["name"])
        own.image = images.get(entry["name"], "")
        state, last = entry.get("state") or {}, entry.get("lastState") or {}
        ended = state.get("terminated") or last.get("terminated")
        if ended:
            own.finished_at = times.parse_or(ended.get("finishedAt"), now)
        if entry.get("restartCount", 0) > 0 and own.finished_at is not None:
            seconds = min(INITIAL_SECONDS * 2 ** min(entry["restartCount"] - 1, 10), MAXIMUM_SECONDS)
            own.crash = BackOff(seconds, own.finished_at)
        running = state.get("running")
        if running:
            started = times.parse_or(running.get("startedAt"), now)
            if any(e["name"] == entry["name"] for e in status.get("initContainerStatuses") or ()):
                own.poll_at = now
            else:
                start = processes.start(pod, entry["name"], started)
                if start.exit is not None:
                    own.exit, own.exit_at = start.exit, max(now, started + start.listens_after_seconds)
    return memory
