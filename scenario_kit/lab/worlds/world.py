"""The common base of virtual and wall-clock worlds: the twin's view of an app, the kubelet, and a tick's samples."""

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
from scenario_kit.lab.settle.checks import Reason
from scenario_kit.lab.settle.hpa_pacing import MetricsGate
from scenario_kit.lab.settle.waiter import Settler
from scenario_kit.lab.telemetry import ContainerMetrics, KubeState, Measured
from scenario_kit.lab.twin import Telemetry, View
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds.probing import probe_pod
from scenario_kit.lab.worlds.recordings import Recordings
from scenario_kit.lab.worlds.sample_horizon import SampleHorizon
from scenario_kit.model import Ledger, Object
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.runtime.process import Exit, LogRecord, SeriesId, Usage
from scenario_kit.model.runtime.trace import Trace
from scenario_kit.ports import Cluster, Probed

#: Seconds between two ticks: the scrape and evaluation interval.
TICK_SECONDS = GRID_SECONDS


class WaitResult(NamedTuple):
    """The result of a wait. Unless ``settled``, ``reason`` is what the cluster still has to do."""

    now: float
    settled: bool
    reason: str = ""


class TwinLike(Processes, Protocol):
    """The simulated data plane of one world; ``lab.twin.Twin`` is one."""

    def observe(self, view: View) -> None:
        """Update to the current state without advancing time."""

    def step(self, view: View, t: float, dt: float) -> Telemetry:
        """Simulate ``dt`` seconds, up to ``t``."""

    def traces(self, since: float, until: float) -> Sequence[Trace]:
        """Return a sample of the traces that started between two times, oldest first."""


class Nodes(Protocol):
    """All kubelets of the lab; ``lab.kubelet.Kubelet`` is one."""

    def run_once(self, namespace: str | None = None, now: float | None = None) -> int:
        """Do the work that is due; return the number of writes."""

    def next_wakeup(self, namespace: str) -> float | None:
        """Return when work is due next."""

    def handle_exits(self, exits: Iterable[Exit], now: float) -> None:
        """Handle exited processes."""

    def append(self, namespace: str, records: Iterable[LogRecord]) -> None:
        """Append log lines of containers."""

    def flush(self, namespace: str | None = None, seconds: float | None = None) -> bool:
        """Wait until events and logs are written; return whether they are, within ``seconds``."""

    def forget(self, namespace: str) -> None:
        """Drop the state of a namespace."""


class Effects(Protocol):
    """Active chaos effects; ``lab.chaos_daemon.EffectStore`` is one."""

    def snapshot(self, pod_uids: Iterable[str]) -> Ledger:
        """Return the active effects on these pods."""


class Sink(Protocol):
    """Stores the samples of one world; ``lab.telemetry.Writer`` is one."""

    def write(self, batch: Sequence[tuple[float, Mapping[SeriesId, float]]]) -> None:
        """Write ticks with their complete sets of series; raises ``MetricsError``."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True)
class LabContext:
    """The lab's services that worlds use."""

    store: ObjectStore
    settler: Settler
    metrics_gate: MetricsGate
    nodes: Nodes
    effects: Effects
    cluster: Cluster
    twin_of: Callable[[WorldSpec], TwinLike]
    sink_of: Callable[[], Sink]
    epoch: float
    sample_horizon: SampleHorizon
    set_chaos_base: Callable[[Object, float], None]
    recordings: Recordings | None = None


class LabWorld(ABC):
    """An app's namespaces with a twin. One thread at a time uses the twin."""

    def __init__(self, spec: WorldSpec, lab: LabContext) -> None:
        self.spec = spec
        self.twin = lab.twin_of(spec)
        self._lab = lab
        self._twin_turn = threading.RLock()
        self._kube_states = {namespace: KubeState() for namespace in spec.namespaces}
        self._containers = ContainerMetrics()
        self._view: View | None = None
        self._measured: Measured | None = None
        recordings = lab.recordings
        self._recorder = recordings.open(spec, lab.store, lab.cluster) if recordings else None

    @property
    @abstractmethod
    def now(self) -> float:
        """The time of this world, in seconds since the epoch."""

    @property
    def measured(self) -> Measured | None:
        """The usage of containers in the last tick; None before the first one."""
        return self._measured

    @property
    @abstractmethod
    def stored(self) -> float:
        """The time up to which its samples can be queried."""

    def view(self) -> View:
        """Return the twin's view of the namespaces."""
        objects, version = self._lab.store.view(self.spec.namespace)
        others = {}
        for namespace in self.spec.others:
            others[namespace], more = self._lab.store.view(namespace)
            version += more
        platform, more = self._lab.store.view(cluster_dns.NAMESPACE)
        version += more
        in_force = self._lab.effects.snapshot(()).version
        version += in_force
        if self._view is None or self._view.version != version:
            pods = [pod for each in (objects, *others.values()) for pod in each.get("Pod", {}).values()]
            ledger = self._lab.effects.snapshot([pod["metadata"]["uid"] for pod in pods])
            self._view = View(self.spec.namespace, objects, ledger, version, others, cluster_dns.find_dns(platform))
        return self._view

    def run_nodes(self) -> int:
        """Run the kubelet's due work; return the number of writes."""
        with self._twin_turn:
            self.twin.observe(self.view())
            return sum(self._lab.nodes.run_once(namespace, self.now) for namespace in self.spec.namespaces)

    def flush_nodes(self, seconds: float) -> bool:
        """Wait up to ``seconds`` (wall) until the kubelet's events and logs are written; return whether they are."""
        deadline = time.monotonic() + seconds
        return all(
            self._lab.nodes.flush(namespace, max(deadline - time.monotonic(), 0.0))
            for namespace in self.spec.namespaces
        )

    def next_wakeup(self) -> float | None:
        """Return when kubelet work is due next; None if there is none."""
        due = [self._lab.nodes.next_wakeup(namespace) for namespace in self.spec.namespaces]
        return min((at for at in due if at is not None), default=None)

    def is_unchanged(self) -> bool:
        """Return whether no namespace has changed since it settled."""
        return all(self._lab.settler.is_unchanged(namespace) for namespace in self.spec.namespaces)

    def settle(
        self, seconds: float, should_continue: Callable[[], bool], overdue: Collection[str] = frozenset()
    ) -> Sequence[Reason]:
        """Wait up to ``seconds`` (wall) until all namespaces have settled; return why they have not."""
        return self._lab.settler.settle(self.spec.namespaces, self.run_nodes, seconds, overdue, should_continue)

    def run_tick(self, t: float) -> Telemetry:
        """Simulate the tick that ends at ``t``: requests, log lines and process exits."""
        with self._twin_turn:
            telemetry = self.twin.step(self.view(), t, TICK_SECONDS)
        self._lab.nodes.handle_exits(telemetry.exits, t)
        self._print(telemetry.logs)
        return telemetry

    def _print(self, lines: Sequence[LogRecord]) -> None:
        if not self.spec.others:
            self._lab.nodes.append(self.spec.namespace, lines)
            return
        for namespace in self.spec.namespaces:
            own = self._lab.store.names(namespace, "Pod")
            self._lab.nodes.append(namespace, [line for line in lines if line.pod in own])

    def probe(self, pod: str, port: int, path: str, namespace: str = "") -> Probed:
        """Probe a port of a pod from outside of the app: HTTP with a ``path``, else TCP.

        The result is unknown if chaos that may affect it is active on the pod.
        """
        with self._twin_turn:
            view = self.view()
            self.twin.observe(view)
            found = view.within(namespace or self.spec.namespace).kind("Pod").get(pod)
            if found is None:
                return Probed(False, None, "there is no such pod")
            return probe_pod(self.twin, view, found, port, path, self.now)

    def traces(self, since: float, until: float) -> Sequence[Trace]:
        """Return a sample of the app's traces that started between two times, oldest first."""
        with self._twin_turn:
            return self.twin.traces(since, until)

    def samples(self, telemetry: Telemetry, t: float) -> dict[SeriesId, float]:
        """Return all series of the tick that ends at ``t``: the twin's, kube-state-metrics and container usage."""
        store = self._lab.store
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
        """Record the end of the tick if the world is recorded."""
        if self._recorder is not None:
            self._recorder.record(t, self.traces)

    @abstractmethod
    def wait(
        self, until: float, *, stride: float | None, seconds: float, should_continue: Callable[[], bool]
    ) -> WaitResult:
        """Settle and let time pass; see the two kinds of worlds."""

    def close(self) -> None:
        """Close the world; its namespaces become ordinary ones."""
        if self._recorder is not None:
            self._recorder.finish(self.now, self.traces)
        if self._lab.recordings is not None:
            self._lab.recordings.close(self.spec.trial)
        for namespace in self.spec.namespaces:
            self._lab.nodes.forget(namespace)
            self._lab.settler.forget(namespace)


def find_grid_after(t: float) -> float:
    """Find the first instant of the grid after ``t``."""
    return (t // TICK_SECONDS + 1) * TICK_SECONDS


def find_grid_from(t: float) -> float:
    """Find the first instant of the grid that is not before ``t``."""
    return -(-t // TICK_SECONDS) * TICK_SECONDS
