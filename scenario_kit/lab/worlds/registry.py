"""Registry of a lab's worlds, by trial and by namespace, and the loops that drive those on the wall clock."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

from scenario_kit.errors import InfrastructureError, Unreachable
from scenario_kit.lab.kubelet import PlainProcesses, Processes
from scenario_kit.lab.telemetry import KubeState
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds.malloc_trim import trim_heap
from scenario_kit.lab.worlds.recordings import Recordings
from scenario_kit.lab.worlds.virtual import VirtualWorld
from scenario_kit.lab.worlds.wall import WallWorld
from scenario_kit.lab.worlds.world import TICK_SECONDS, LabContext, LabWorld, find_grid_after
from scenario_kit.model.runtime.process import SeriesId

_LOG = logging.getLogger(__name__)
#: Pause between retries while the API server is unreachable, and the longest outage that is tolerated.
_RETRY_SECONDS = 1.0
_LONGEST_OUTAGE_SECONDS = 30.0
#: Pause between two renewals: periods are at least half a minute, and half of one is left at a renewal.
_RENEWAL_SECONDS = 5.0


class WorldConflict(Exception):
    """The trial has a world with another spec, or its namespace belongs to another world."""


class UnsupportedApp(Exception):
    """The twin cannot simulate the app, or not with these assumptions."""


class Worlds:
    """All worlds of a lab; thread-safe. Pods outside of a world run plain processes on the wall clock."""

    def __init__(self) -> None:
        self._lab: LabContext | None = None
        self._lock = threading.Lock()
        self._nodes_turn = threading.Lock()
        self._worlds: dict[str, LabWorld] = {}
        self._by_namespace: dict[str, LabWorld] = {}
        self._offsets: dict[str, float] = {}
        self._plain = PlainProcesses()
        self._cluster_state = KubeState()

    def attach(self, lab: LabContext) -> None:
        """Set the lab's services; done after construction because the kubelet needs ``read_clock``."""
        self._lab = lab

    def read_clock(self, namespace: str) -> float:
        """Return the time in a namespace, in seconds since the epoch.

        After a virtual world has ended, its remaining pods continue from its last instant at the pace of the wall
        clock; switching to the present would age them by days.
        """
        world = self._by_namespace.get(namespace)
        return world.now if world else time.time() + self._offsets.get(namespace, 0.0)

    def read_tick(self, namespace: str) -> float:
        """Return when the container usage of a namespace was last measured, on its clock; -1 before the first tick.

        Outside of a world, it is the latest instant of the grid in wall time.
        """
        world = self._by_namespace.get(namespace)
        if world is None:
            return time.time() // TICK_SECONDS * TICK_SECONDS
        return world.measured.at if world.measured else -1.0

    def get_processes(self, namespace: str) -> Processes:
        """Return the processes behind the containers of a namespace."""
        world = self._by_namespace.get(namespace)
        return world.twin if world else self._plain

    def open(self, spec: WorldSpec) -> LabWorld:
        """Return the world of a trial; create it if there is none.

        Raises:
            WorldConflict: the trial has a world with another spec, or another world has the namespace.
            UnsupportedApp: the twin rejects the app or an assumption.
        """
        with self._nodes_turn, self._lock:
            found = self._worlds.get(spec.trial)
            if found is not None:
                if found.spec != spec:
                    raise WorldConflict(f"trial {spec.trial} already has a world with a different spec")
                return found
            for namespace in spec.namespaces:
                if (other := self._by_namespace.get(namespace)) is not None:
                    raise WorldConflict(f"namespace {namespace} belongs to the world of trial {other.spec.trial}")
            kind = VirtualWorld if spec.mode == "Virtual" else WallWorld
            try:
                world: LabWorld = kind(spec, self._get_lab())
            except ValueError as error:
                raise UnsupportedApp(f"app {spec.app.name} {spec.app.version}: {error}") from error
            self._worlds[spec.trial] = world
            for namespace in spec.namespaces:
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
        """The recordings of worlds; None if disabled."""
        return self._get_lab().recordings

    def get_by_namespace(self, namespace: str) -> LabWorld | None:
        """Return the world of a namespace, or None."""
        with self._lock:
            return self._by_namespace.get(namespace)

    def all(self) -> list[LabWorld]:
        """Return every world, by trial."""
        with self._lock:
            return [self._worlds[trial] for trial in sorted(self._worlds)]

    def close(self, trial: str) -> bool:
        """Close the world of a trial; False if there is none.

        Raises:
            MetricsError: the last samples were rejected; the world is closed nevertheless.
        """
        with self._lock:
            world = self._worlds.pop(trial, None)
        if world is None:
            return False
        try:
            world.close()
        finally:
            with self._lock:
                for namespace in world.spec.namespaces:
                    self._offsets[namespace] = world.now - time.time()
                    self._by_namespace.pop(namespace, None)
            _LOG.info("world %s closed", trial)
        del world  # the last reference has to go before the heap is trimmed
        trim_heap()
        return True

    def collect_exposed(self) -> dict[SeriesId, float]:
        """Collect the series of the wall-clock worlds and of the nodes, for a scrape."""
        store = self._get_lab().store
        samples = self._cluster_state.collect({"Node": store.names("", "Node")})
        for world in self.all():
            if isinstance(world, WallWorld):
                samples.update(world.current)
        return samples

    def tick(self, stop: threading.Event) -> None:
        """Tick the wall-clock worlds until ``stop``. A thread's main function."""
        t = find_grid_after(time.time())
        while not stop.wait(min(max(t - time.time(), 0.0), TICK_SECONDS)):  # robust to a clock that is set back
            self.tick_walls(t)
            t = find_grid_after(max(t, time.time()))

    def tick_walls(self, t: float) -> None:
        """Run the tick that ends at ``t`` in the wall-clock worlds. Keeps no reference to a world afterwards."""
        for world in self.all():
            if isinstance(world, WallWorld):
                world.tick(t)

    def renew_timers(self, stop: threading.Event) -> None:
        """Keep the chaos manager from acting by the wall clock in virtual worlds until ``stop``. A thread's main
        function.
        """
        while not stop.wait(_RENEWAL_SECONDS):
            for world in self.all():
                if isinstance(world, VirtualWorld):
                    try:
                        world.renew_timers()
                    except InfrastructureError as error:
                        _LOG.warning("%s: times of experiments were not renewed: %s", world.spec.trial, error)

    def run_nodes(self, stop: threading.Event) -> None:
        """Run the kubelets of all namespaces on the wall clock until ``stop``. A thread's main function.

        Raises:
            ClusterError: the API server rejects a write, or has been unreachable for 30 s.
        """
        store = self._get_lab().store
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
                _LOG.warning("the API server is unreachable, retrying: %s", error)
                due = time.time() + _RETRY_SECONDS
            # At most 1 s: a container that the chaos daemon killed shows in no object.
            store.wait(lambda: stop.is_set() or store.changes() != seen, min(max(due - time.time(), 0.0), 1.0))  # noqa: B023

    def _run_wall_nodes(self) -> float:
        """Run the kubelet of every namespace without a virtual clock; return the next due time (wall)."""
        lab = self._get_lab()
        due = time.time() + 1.0
        for namespace in lab.store.namespaces():
            if not lab.store.names(namespace, "Pod"):
                self._offsets.pop(namespace, None)
                continue
            with self._nodes_turn:
                world = self._by_namespace.get(namespace)
                if isinstance(world, VirtualWorld):
                    continue
                if world is not None:
                    world.run_nodes()
                else:
                    lab.nodes.run_once(namespace, self.read_clock(namespace))
            wakeup = lab.nodes.next_wakeup(namespace)
            if wakeup is not None:
                due = min(due, time.time() + wakeup - self.read_clock(namespace))
        return due

    def _get_lab(self) -> LabContext:
        if self._lab is None:
            raise RuntimeError("attach() was not called")
        return self._lab


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
