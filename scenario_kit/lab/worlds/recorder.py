"""Records the observable state of a world: one line per tick, in a growing file.

All data is taken at the end of a tick, after the cluster has settled, so a virtual world's recording does not depend on
when it is read. The data is complete and unmodified except for Secrets and the objects of the fault injector, which no
investigation reads.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from scenario_kit.errors import LabError
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.informers.watched_kinds import CLUSTER, WORKLOADS
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.model.base import Object
from scenario_kit.model.runtime.recording import RecordedLine, RecordedTick, RemovedObject
from scenario_kit.model.runtime.trace import Trace
from scenario_kit.ports import Cluster

#: Seconds after which a request has ended or hangs: then its trace is written.
TRACE_SECONDS: Final = 120.0
#: The period for traces, and for kinds without an informer, in seconds.
EVALUATION_INTERVAL: Final = 60.0
_READ: Final = tuple(kind for kind in WORKLOADS if kind.kind != "Secret")
_AROUND: Final = tuple(kind.kind for kind in CLUSTER if kind.kind in ("Node", "PersistentVolume"))
#: Kinds of apps without an informer, with their groups.
_LISTED: Final = (("Ingress", "networking.k8s.io"), ("PodDisruptionBudget", "policy"), ("CronJob", "batch"))

#: Returns the traces of requests that started between two times.
ReadTraces = Callable[[float, float], Sequence[Trace]]
_Key = tuple[str, str, str]


class Recorder:
    """The recording of one world. Lines and events may come from any thread, ticks from one at a time."""

    def __init__(self, spec: WorldSpec, store: ObjectStore, cluster: Cluster, file: Path) -> None:
        self._spec = spec
        self._store = store
        self._cluster = cluster
        self._file = file
        self._lock = threading.Lock()
        self._lines: list[RecordedLine] = []
        self._events: list[Object] = []
        self._versions: dict[_Key, tuple[str, str]] = {}
        self._listed: dict[_Key, Object] = {}
        self._last = -math.inf
        self._traced = -math.inf

    def add_lines(self, namespace: str, pod: str, container: str, lines: Iterable[tuple[float, str]]) -> None:
        """Add log lines of a container."""
        if namespace in self._spec.namespaces:
            with self._lock:
                self._lines += [RecordedLine(namespace, pod, container, at, text) for at, text in lines]

    def add_event(self, kind: str, obj: Object) -> None:
        """Add an Event."""
        if kind == "Event" and obj["metadata"].get("namespace") in self._spec.namespaces:
            with self._lock:
                self._events.append(obj)

    def record(self, at: float, traces: ReadTraces) -> None:
        """Write the tick that ends at ``at``; no effect if it is already written.

        Raises:
            LabError: the file cannot be written.
            ClusterError: the API server does not respond.
        """
        if at <= self._last:
            return
        looks = at % EVALUATION_INTERVAL == 0
        if looks:
            self._list()
        self._write(at, self._take_traces(at - TRACE_SECONDS, traces) if looks else ())
        self._last = at

    def finish(self, at: float, traces: ReadTraces) -> None:
        """Write the traces of the last requests at the end of the world.

        Nothing else: the app was removed before, maybe without any time passing, and its removal is not observed.
        """
        if math.isfinite(self._last):
            self._append(RecordedTick(at=max(at, self._last), traces=tuple(self._take_traces(at, traces))))

    def _take_traces(self, until: float, traces: ReadTraces) -> Sequence[Trace]:
        found = traces(math.nextafter(self._traced, math.inf), until)
        self._traced = max(self._traced, until)
        return found

    def _write(self, at: float, traces: Sequence[Trace]) -> None:
        with self._lock:
            lines, self._lines = self._lines, []
            events, self._events = self._events, []
        objects, removed = self._compare()
        tick = RecordedTick(
            at=at,
            objects=tuple(objects),
            removed=tuple(removed),
            events=tuple(events),
            lines=tuple(lines),
            traces=tuple(traces),
        )
        self._append(tick)

    def _append(self, tick: RecordedTick) -> None:
        try:
            with self._file.open("ab") as stream:
                stream.write(tick.to_bytes() + b"\n")
        except OSError as error:
            raise LabError(
                f"{self._file}: cannot write the recording: {error.strerror}", fix="free some disk space"
            ) from error

    def _compare(self) -> tuple[list[Object], list[RemovedObject]]:
        """Return new and changed objects, and removed ones, since the last tick."""
        present: dict[_Key, Object] = {}
        for namespace in self._spec.namespaces:
            kinds = self._store.kinds(namespace)
            for watched in _READ:
                for name, obj in kinds.get(watched.kind, {}).items():
                    present[watched.kind, namespace, name] = obj
        for kind in _AROUND:
            for name, obj in self._store.names("", kind).items():
                present[kind, "", name] = obj
        present |= self._listed
        versions = {key: (o["metadata"]["uid"], o["metadata"]["resourceVersion"]) for key, o in present.items()}
        changed = [obj for key, obj in present.items() if self._versions.get(key) != versions[key]]
        removed = [RemovedObject(*key) for key in self._versions if key not in versions]
        self._versions = versions
        return changed, removed

    def _list(self) -> None:
        """List the kinds without an informer."""
        self._listed = {
            (kind, namespace, obj["metadata"]["name"]): obj
            for namespace in self._spec.namespaces
            for kind, group in _LISTED
            for obj in self._cluster.list(kind, namespace, group=group)
        }
