"""All worlds of a lab: by trial, by namespace, and what drives those in real time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

from scenario_kit.errors import Unreachable
from scenario_kit.lab.kubelet import PlainProcesses, Processes
from scenario_kit.lab.telemetry import KubeState
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds.malloc_trim import give_back
from scenario_kit.lab.worlds.recordings import Recordings
from scenario_kit.lab.worlds.virtual import VirtualWorld
from scenario_kit.lab.worlds.wall import WallWorld
from scenario_kit.lab.worlds.world import TICK_SECONDS, LabWorld, Surroundings, find_grid_after
from scenario_kit.model.runtime.process import SeriesId

_LOG = logging.getLogger(__name__)
#: A cluster that does not answer is asked again after this long, and for this long in all.
_RETRY_SECONDS = 1.0
_LONGEST_OUTAGE_SECONDS = 30.0


class Taken(Exception):
    """Another world has this trial's name with other contents, or its namespace."""


class Unsuitable(Exception):
    """The app cannot be simulated, or not with these assumptions."""


class Worlds:
    """Safe to share. Pods of no world live on the wall clock with plain processes."""

    def __init__(self) -> None:
        self._around: Surroundings | None = None
        self._lock = threading.Lock()
        self._nodes_turn = threading.Lock()
        self._worlds: dict[str, LabWorld] = {}
        self._by_namespace: dict[str, LabWorld] = {}
        self._offsets: dict[str, float] = {}
        self._plain = PlainProcesses()
        self._cluster_state = KubeState()

    def attach(self, around: Surroundings) -> None:
        """Name the lab around; the kubelet in it needs ``clock_of`` and ``processes_of``, hence the second step."""
        self._around = around

    def clock_of(self, namespace: str) -> float:
        """Return the time in a namespace.

        Where a virtual world has ended, time goes on from there at the pace of the wall clock, as long as pods are
        left: for them, days would pass in an instant otherwise.
        """
        world = self._by_namespace.get(namespace)
        return world.now if world else time.time() + self._offsets.get(namespace, 0.0)

    def tick_of(self, namespace: str) -> float:
        """Return when what the containers of a namespace use was last measured, on its clock; where no world is, now
        and then.

        Before the first tick of a world it is -1.
        """
        world = self._by_namespace.get(namespace)
        if world is None:
            return time.time() // TICK_SECONDS * TICK_SECONDS
        return world.measured.at if world.measured else -1.0

    def processes_of(self, namespace: str) -> Processes:
        """Return what runs in the containers of a namespace."""
        world = self._by_namespace.get(namespace)
        return world.twin if world else self._plain

    def open(self, spec: WorldSpec) -> LabWorld:
        """Open the world of a trial, made if there is none.

        Raises:
            Taken: the trial has a world that was asked to be something else, or another trial has the namespace.
            Unsuitable: the twin refuses the app or an assumption.
        """
        with self._nodes_turn, self._lock:
            found = self._worlds.get(spec.trial)
            if found is not None:
                if found.spec != spec:
                    raise Taken(f"trial {spec.trial} has a world already, with another namespace, app, seed or mode")
                return found
            for namespace in spec.everywhere:
                if (other := self._by_namespace.get(namespace)) is not None:
                    raise Taken(f"namespace {namespace} belongs to the world of trial {other.spec.trial}")
            kind = VirtualWorld if spec.mode == "Virtual" else WallWorld
            try:
                world: LabWorld = kind(spec, self._surroundings())
            except ValueError as error:
                raise Unsuitable(f"app {spec.app.name} {spec.app.version}: {error}") from error
            self._worlds[spec.trial] = world
            for namespace in spec.everywhere:
                self._by_namespace[namespace] = world
                self._offsets.pop(namespace, None)
        _LOG.info("world %s opened: %s, %s, seed %s", spec.trial, spec.namespace, spec.mode, spec.seed)
        return world

    def get(self, trial: str) -> LabWorld | None:
        """Get the world of a trial, or None."""
        with self._lock:
            return self._worlds.get(trial)

    @property
    def recordings(self) -> Recordings | None:
        """What is recorded of worlds; None where nothing can be."""
        return self._surroundings().recordings

    def at_home(self, namespace: str) -> LabWorld | None:
        """Return the world of a namespace, or None."""
        with self._lock:
            return self._by_namespace.get(namespace)

    def all(self) -> list[LabWorld]:
        """Return every world, by trial."""
        with self._lock:
            return [self._worlds[trial] for trial in sorted(self._worlds)]

    def close(self, trial: str) -> bool:
        """End the world of a trial; False when there is none.

        Raises:
            MetricsError: the last samples were not accepted; the world is gone all the same.
        """
        with self._lock:
            world = self._worlds.pop(trial, None)
        if world is None:
            return False
        try:
            world.close()
        finally:
            with self._lock:
                for namespace in world.spec.everywhere:
                    self._offsets[namespace] = world.now - time.time()
                    self._by_namespace.pop(namespace, None)
            _LOG.info("world %s closed", trial)
        del world  # before memory is given back, not after
        give_back()
        return True

    def exposed(self) -> dict[SeriesId, float]:
        """Return what the wall worlds say at present, and the state of the nodes."""
        store = self._surroundings().store
        samples = self._cluster_state.collect({"Node": store.names("", "Node")})
        for world in self.all():
            if isinstance(world, WallWorld):
                samples.update(world.current)
        return samples

    def tick(self, stop: threading.Event) -> None:
        """Drive the wall worlds, every tick, until ``stop``. A thread's main function."""
        t = find_grid_after(time.time())
        while not stop.wait(min(max(t - time.time(), 0.0), TICK_SECONDS)):  # a clock that is set back stops nothing
            self.tick_walls(t)
            t = find_grid_after(max(t, time.time()))

    def tick_walls(self, t: float) -> None:
        """Let the tick that ends at ``t`` pass in the wall worlds. Afterwards nothing here holds on to a world."""
        for world in self.all():
            if isinstance(world, WallWorld):
                world.tick(t)

    def run_nodes(self, stop: threading.Event) -> None:
        """Simulate the kubelet of everything on the wall clock, until ``stop``. A thread's main function.

        Raises:
            ClusterError: the API server refuses a write, or has not answered for half a minute.
        """
        store = self._surroundings().store
        failing_since: float | None = None
        while not stop.is_set():
            seen = store.changes()
            try:
                due = self._run_wall_nodes()
                failing_since = None
            except Unreachable as error:
                failing_since = failing_since or time.monotonic()
                if time.monotonic() - failing_since > _LONGEST_OUTAGE_SECONDS:
                    raise
                _LOG.warning("the API server does not answer, trying again: %s", error)
                due = time.time() + _RETRY_SECONDS
            # At most a second: the chaos daemon may have killed a container, which no object tells.
            store.wait(lambda: stop.is_set() or store.changes() != seen, min(max(due - time.time(), 0.0), 1.0))  # noqa: B023

    def _run_wall_nodes(self) -> float:
        """Run every namespace that has no clock of its own; when the next of them is due."""
        around = self._surroundings()
        due = time.time() + 1.0
        for namespace in around.store.namespaces():
            if not around.store.names(namespace, "Pod"):
                self._offsets.pop(namespace, None)
                continue
            with self._nodes_turn:
                world = self._by_namespace.get(namespace)
                if isinstance(world, VirtualWorld):
                    continue
                if world is not None:
                    world.run_nodes()
                else:
                    around.nodes.run_once(namespace, self.clock_of(namespace))
            wakeup = around.nodes.next_wakeup(namespace)
            if wakeup is not None:
                due = min(due, time.time() + wakeup - self.clock_of(namespace))
        return due

    def _surroundings(self) -> Surroundings:
        if self._around is None:
            raise RuntimeError("attach comes first")
        return self._around


def describe(world: LabWorld) -> Mapping[str, object]:
    """Describe a world as the API shows it."""
    spec = world.spec
    return {
        "trial": spec.trial,
        "namespace": spec.namespace,
        "mode": spec.mode,
        "seed": spec.seed,
        "now": world.now,
        "stored": world.stored,
    }
