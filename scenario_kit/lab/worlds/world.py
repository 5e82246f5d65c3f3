"""What virtual and wall worlds share: the twin's view of an app, its processes, and the samples of a tick."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from scenario_kit.lab.control_plane import cluster_dns
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.kubelet import Processes
from scenario_kit.lab.settle.hpa_pacing import Looks
from scenario_kit.lab.settle.settled import Reason
from scenario_kit.lab.settle.waiter import Settler
from scenario_kit.lab.telemetry import ContainerMetrics, KubeState, Measured
from scenario_kit.lab.twin import Telemetry, View
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds.probing import ask
from scenario_kit.lab.worlds.recordings import Recordings
from scenario_kit.lab.worlds.sample_horizon import Past
from scenario_kit.model import Ledger, Object
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.runtime.process import Exit, LogRecord, SeriesId, Usage
from scenario_kit.model.runtime.trace import Trace
from scenario_kit.ports import Cluster, Probed

#: Seconds between two ticks: the scrape and evaluation interval.
TICK_SECONDS = GRID_SECONDS


class Waited(NamedTuple):
    """What a wait came to. Without ``settled``, ``reason`` says what the cluster still has to do."""

    now: float
    settled: bool
    reason: str = ""


class TwinLike(Processes, Protocol):
    """The simulated data plane of one world; ``lab.twin.Twin`` is one."""

    def observe(self, view: View) -> None:
        """Take note of the present state, without letting time pass."""

    def step(self, view: View, t: float, dt: float) -> Telemetry:
        """Let ``dt`` seconds pass, up to ``t``."""

    def traces(self, since: float, until: float) -> Sequence[Trace]:
        """Return what programs told about a sample of requests that began between two times, oldest first."""


class Nodes(Protocol):
    """All kubelets of the lab; ``lab.kubelet.Kubelet`` is one."""

    def run_once(self, namespace: str | None = None, now: float | None = None) -> int:
        """Do what is due; returns the number of writes."""

    def next_wakeup(self, namespace: str) -> float | None:
        """Return when something is due next."""

    def handle_exits(self, exits: Iterable[Exit], now: float) -> None:
        """Handle the ends of processes."""

    def append(self, namespace: str, records: Iterable[LogRecord]) -> None:
        """Append what containers printed."""

    def flush(self, namespace: str | None = None, seconds: float | None = None) -> bool:
        """Wait until its events and logs can be read; whether they can, within so many seconds."""

    def forget(self, namespace: str) -> None:
        """Forget a world that is gone."""


class Effects(Protocol):
    """Chaos in force; ``lab.chaos_daemon.LedgerBook`` is one."""

    def snapshot(self, pod_uids: Iterable[str]) -> Ledger:
        """Return what is in force on these pods."""


class Sink(Protocol):
    """Takes ticks of one world; ``lab.telemetry.Writer`` is one."""

    def write(self, batch: Sequence[tuple[float, Mapping[SeriesId, float]]]) -> None:
        """Write ticks with their complete sets of series; raises ``MetricsError``."""

    def close(self) -> None:
        """Drop the connection."""


@dataclass(frozen=True)
class Surroundings:
    """The lab around its worlds."""

    store: ObjectStore
    settler: Settler
    looks: Looks
    nodes: Nodes
    effects: Effects
    cluster: Cluster
    twin_of: Callable[[WorldSpec], TwinLike]
    sink_of: Callable[[], Sink]
    epoch: float
    past: Past
    recordings: Recordings | None = None


class LabWorld(ABC):
    """An app's namespaces with a twin. The twin is used by one thread at a time."""

    def __init__(self, spec: WorldSpec, around: Surroundings) -> None:
        self.spec = spec
        self.twin = around.twin_of(spec)
        self._around = around
        self._twin_turn = threading.RLock()
        self._kube_states = {namespace: KubeState() for namespace in spec.everywhere}
        self._containers = ContainerMetrics()
        self._view: View | None = None
        self._measured: Measured | None = None
        recordings = around.recordings
        self._recorder = recordings.open(spec, around.store, around.cluster) if recordings else None

    @property
    @abstractmethod
    def now(self) -> float:
        """The time of this world, in seconds since the epoch."""

    @property
    def measured(self) -> Measured | None:
        """What the containers used in the last tick; None before the first one."""
        return self._measured

    @property
    @abstractmethod
    def stored(self) -> float:
        """Up to when its samples can be asked for."""

    def view(self) -> View:
        """Return the namespaces as the twin may see them."""
        objects, version = self._around.store.view(self.spec.namespace)
        others = {}
        for namespace in self.spec.others:
            others[namespace], more = self._around.store.view(namespace)
            version += more
        platform, more = self._around.store.view(cluster_dns.NAMESPACE)
        version += more
        in_force = self._around.effects.snapshot(()).version
        version += in_force
        if self._view is None or self._view.version != version:
            pods = [pod for each in (objects, *others.values()) for pod in each.get("Pod", {}).values()]
            ledger = self._around.effects.snapshot([pod["metadata"]["uid"] for pod in pods])
            self._view = View(self.spec.namespace, objects, ledger, version, others, cluster_dns.find_dns(platform))
        return self._view

    def run_nodes(self) -> int:
        """Let the kubelet do what is due now; returns the number of writes."""
        with self._twin_turn:
            self.twin.observe(self.view())
            return sum(self._around.nodes.run_once(namespace, self.now) for namespace in self.spec.everywhere)

    def reported(self, seconds: float) -> bool:
        """Wait up to ``seconds`` (wall) until whatever the kubelet said can be read; whether it can."""
        deadline = time.monotonic() + seconds
        return all(
            self._around.nodes.flush(namespace, max(deadline - time.monotonic(), 0.0))
            for namespace in self.spec.everywhere
        )

    def next_wakeup(self) -> float | None:
        """Return when the kubelet has something to do next; None when it has not."""
        due = [self._around.nodes.next_wakeup(namespace) for namespace in self.spec.everywhere]
        return min((at for at in due if at is not None), default=None)

    def still(self) -> bool:
        """Check whether nothing was seen to move in any namespace since it settled."""
        return all(self._around.settler.still(namespace) for namespace in self.spec.everywhere)

    def settle(
        self, seconds: float, go_on: Callable[[], bool], overdue: Collection[str] = frozenset()
    ) -> Sequence[Reason]:
        """Wait up to ``seconds`` (wall) until all namespaces have settled; why they have not, or nothing."""
        deadline = time.monotonic() + seconds
        while True:
            for namespace in self.spec.everywhere:
                left = max(deadline - time.monotonic(), 0.0)
                reasons = self._around.settler.settle(namespace, self.run_nodes, left, overdue, go_on)
                if reasons:
                    return reasons
            # One may have moved while another one was waited for.
            if not self.spec.others or self.still():
                return ()
            if time.monotonic() > deadline:
                return (Reason("Moving", "Namespace", self.spec.namespace, "the namespaces keep each other moving"),)

    def pass_tick(self, t: float) -> Telemetry:
        """Let one tick pass that ends at ``t``: requests flow, processes print and end."""
        with self._twin_turn:
            telemetry = self.twin.step(self.view(), t, TICK_SECONDS)
        self._around.nodes.handle_exits(telemetry.exits, t)
        self._print(telemetry.logs)
        return telemetry

    def _print(self, lines: Sequence[LogRecord]) -> None:
        if not self.spec.others:
            self._around.nodes.append(self.spec.namespace, lines)
            return
        for namespace in self.spec.everywhere:
            own = self._around.store.names(namespace, "Pod")
            self._around.nodes.append(namespace, [line for line in lines if line.pod in own])

    def probe(self, pod: str, port: int, path: str, namespace: str = "") -> Probed:
        """Return what a port of a pod answers to whoever asks from outside of the app: HTTP with a ``path``, else TCP.

        Not known where chaos is in force on the pod that could stand in the way.
        """
        with self._twin_turn:
            view = self.view()
            self.twin.observe(view)
            found = view.within(namespace or self.spec.namespace).kind("Pod").get(pod)
            if found is None:
                return Probed(False, None, "there is no such pod")
            return ask(self.twin, view, found, port, path, self.now)

    def traces(self, since: float, until: float) -> Sequence[Trace]:
        """Return a sample of the app's traces that began between two times, oldest first."""
        with self._twin_turn:
            return self.twin.traces(since, until)

    def samples(self, telemetry: Telemetry, t: float) -> dict[SeriesId, float]:
        """Return all series of the tick that ends at ``t``: the twin's own, the objects' state, the usage of
        containers.
        """
        store = self._around.store
        result = dict(telemetry.samples)
        pods: list[Object] = []
        for namespace, state in self._kube_states.items():
            objects: dict[str, Mapping[str, Object]] = dict(store.kinds(namespace))
            own = store.get("", "Namespace", namespace)
            if own is not None:
                objects["Namespace"] = {namespace: own}
            result.update(state.collect(objects))
            pods += objects.get("Pod", {}).values()
        usage: Mapping[tuple[str, str], Usage] = telemetry.usage
        result.update(self._containers.advance(pods, usage, TICK_SECONDS, telemetry.traffic))
        self._measured = Measured(t, TICK_SECONDS, usage)
        return result

    def record(self, t: float) -> None:
        """Write down what is to be seen at the end of the tick, where somebody asked for that."""
        if self._recorder is not None:
            self._recorder.record(t, self.traces)

    @abstractmethod
    def wait(self, until: float, *, stride: float | None, seconds: float, go_on: Callable[[], bool]) -> Waited:
        """Let time pass and the cluster settle; see the two kinds of worlds."""

    def close(self) -> None:
        """End the world; its namespaces become ordinary ones."""
        if self._recorder is not None:
            self._recorder.finish(self.now, self.traces)
        if self._around.recordings is not None:
            self._around.recordings.close(self.spec.trial)
        for namespace in self.spec.everywhere:
            self._around.nodes.forget(namespace)
            self._around.settler.forget(namespace)


def find_grid_after(t: float) -> float:
    """Find the first instant of the grid after ``t``."""
    return (t // TICK_SECONDS + 1) * TICK_SECONDS


def find_grid_from(t: float) -> float:
    """Find the first instant of the grid that is not before ``t``."""
    return -(-t // TICK_SECONDS) * TICK_SECONDS
