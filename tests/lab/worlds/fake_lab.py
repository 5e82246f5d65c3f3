"""A lab without a cluster: a writable store, and a scripted kubelet and twin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.kubelet import PlainProcesses
from scenario_kit.lab.settle.hpa_pacing import MetricsGate
from scenario_kit.lab.settle.requeue import Requeuer
from scenario_kit.lab.settle.waiter import Settler
from scenario_kit.lab.twin import Telemetry, View
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds import LabContext, SampleHorizon, Worlds
from scenario_kit.model import App, Component, Ledger, Object, Reference
from scenario_kit.model.runtime.process import Exit, LogRecord, SeriesId
from scenario_kit.testing import FakeCluster

EPOCH = 1_000_000_005.0 - 1_000_000_005.0 % 15
TICKS: SeriesId = ("twin_ticks_total", (("namespace", "shop"),))
APP = App(
    name="shop",
    version="1",
    namespace="shop",
    entry="web",
    components=(Component(name="web", workload=Reference("Deployment", "web")),),
)


def spec(trial: str = "t1", **more: Any) -> WorldSpec:
    return WorldSpec(**{"trial": trial, "namespace": "shop", "app": APP, "seed": 1, "mode": "Virtual", **more})


class FakeTwin(PlainProcesses):
    """Counts its ticks; ``exits[t]`` are what ends at a tick."""

    def __init__(self) -> None:
        self.steps: list[tuple[float, float]] = []
        self.observed: list[View] = []
        self.exits: dict[float, list[Exit]] = {}

    def observe(self, view: View) -> None:
        self.observed.append(view)

    def step(self, view: View, t: float, dt: float) -> Telemetry:
        self.steps.append((t, dt))
        return Telemetry({TICKS: float(len(self.steps))}, [LogRecord("p", "c", t, "line")], {}, self.exits.pop(t, []))


class FakeNodes:
    """A kubelet that records its runs; ``due`` are its wake-up times."""

    def __init__(self) -> None:
        self.ran: list[float] = []
        self.due: list[float] = []
        self.ended: list[tuple[Exit, float]] = []
        self.lines: list[LogRecord] = []
        self.written = True
        self.on_run: Callable[[float], int] = lambda _: 0

    def run_once(self, namespace: str | None = None, now: float | None = None) -> int:
        assert now is not None
        self.ran.append(now)
        self.due = [t for t in self.due if t > now]
        return self.on_run(now)

    def next_wakeup(self, namespace: str) -> float | None:
        return min(self.due, default=None)

    def handle_exits(self, exits: Iterable[Exit], now: float) -> None:
        self.ended += [(e, now) for e in exits]

    def append(self, namespace: str, records: Iterable[LogRecord]) -> None:
        self.lines += records

    def flush(self, namespace: str | None = None, seconds: float | None = None) -> bool:
        return self.written

    def forget(self, namespace: str) -> None:
        return


class FakeSink:
    """Remembers what was written; ``refuse`` makes it fail."""

    def __init__(self) -> None:
        self.written: list[tuple[float, Mapping[SeriesId, float]]] = []
        self.refuse: Exception | None = None
        self.closed = False

    def write(self, batch: Sequence[tuple[float, Mapping[SeriesId, float]]]) -> None:
        if self.refuse is not None:
            raise self.refuse
        self.written += batch

    def close(self) -> None:
        self.closed = True


class NoEffects:
    def snapshot(self, pod_uids: Iterable[str]) -> Ledger:
        return Ledger()


class OpenGate:
    """A barrier for a store that is always up to date."""

    def wait(self, namespace: str) -> None:
        return

    def forget(self, namespace: str) -> None:
        return


class FakeLab:
    """Everything that a world has around it, at hand for a test."""

    def __init__(self) -> None:
        self.store = ObjectStore()
        self.twin = FakeTwin()
        self.nodes = FakeNodes()
        self.sink = FakeSink()
        self.cluster = FakeCluster()
        self.worlds = Worlds()
        self.metrics_gate = MetricsGate(self.store, self.worlds.read_tick)
        self.store.listen(self.metrics_gate.on_event)
        self.quiet = True
        self.bases: list[tuple[str, float]] = []
        self._revision = 1000
        self.worlds.attach(
            LabContext(
                store=self.store,
                settler=Settler(self.store, OpenGate(), Requeuer(self.cluster)),  # type: ignore[arg-type]
                metrics_gate=self.metrics_gate,
                nodes=self.nodes,
                effects=NoEffects(),
                cluster=self.cluster,
                twin_of=lambda _: self.twin,
                sink_of=lambda: self.sink,
                epoch=EPOCH,
                sample_horizon=SampleHorizon(),
                set_chaos_base=lambda obj, base: self.bases.append((obj["metadata"]["name"], base)),
            )
        )

    def put(self, kind: str, name: str, **fields: Any) -> None:
        self._revision += 1
        namespace = "" if kind == "Namespace" else "shop"
        meta: Object = {"name": name, "uid": f"{kind}-{name}", "resourceVersion": str(self._revision), "generation": 1}
        meta |= {"namespace": namespace} if namespace else {}
        self.store.put(kind, {"kind": kind, "metadata": meta | fields.pop("metadata", {}), **fields})

    def begin(self) -> None:
        """A namespace as every namespace is."""
        self.put("Namespace", "shop", status={"phase": "Active"})
        self.put("ServiceAccount", "default")
        self.put("ConfigMap", "kube-root-ca.crt")

    def unsettle(self) -> None:
        self.quiet = False
        self.put("ReplicaSet", "rs", spec={"replicas": 0}, status={})

    def settle(self) -> None:
        self.quiet = True
        self.put("ReplicaSet", "rs", spec={"replicas": 0}, status={"observedGeneration": 1})
