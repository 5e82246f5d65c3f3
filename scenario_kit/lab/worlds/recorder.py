"""Writes down what can be seen of a world: one line for each tick, in a file that grows while time passes.

Everything is taken at the end of a tick, when the cluster has settled, so that a virtual world's recording does not
depend on when somebody looks. What the recording means is for its readers; here nothing is renamed or left out but
what no investigation reads: secrets, and the objects of the fault injector.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.errors import LabError
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.informers.watched_kinds import CLUSTER, WORKLOADS
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.model.base import Object
from scenario_kit.model.runtime.recording import RecordedLine, RecordedTick, RemovedObject
from scenario_kit.model.runtime.trace import Trace
from scenario_kit.ports import Cluster

#: Seconds after which a request has ended, or goes on hanging: then its trace is written.
TRACE_SECONDS: Final = 120.0
#: Seconds between two looks at traces, and at kinds that no informer follows.
LOOK_SECONDS: Final = 60.0
_READ: Final = tuple(kind for kind in WORKLOADS if kind.kind != "Secret")
_AROUND: Final = tuple(kind.kind for kind in CLUSTER if kind.kind in ("Node", "PersistentVolume"))
#: Kinds that an app may have and no informer follows, with their groups.
_LISTED: Final = (("Ingress", "networking.k8s.io"), ("PodDisruptionBudget", "policy"), ("CronJob", "batch"))

#: Returns the traces of requests that began between two times.
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

    def hear_lines(self, namespace: str, pod: str, container: str, lines: Iterable[tuple[float, str]]) -> None:
        """Take lines that a container printed."""
        if namespace in self._spec.everywhere:
            with self._lock:
                self._lines += [RecordedLine(namespace, pod, container, at, text) for at, text in lines]

    def hear_write(self, kind: str, obj: Object) -> None:
        """Take an Event that was written."""
        if kind == "Event" and obj["metadata"].get("namespace") in self._spec.everywhere:
            with self._lock:
                self._events.append(obj)

    def record(self, at: float, traces: ReadTraces) -> None:
        """Write the tick that ends at ``at``; one that was written before is left as it is.

        Raises:
            LabError: the disk does not take it.
            ClusterError: the API server does not answer.
        """
        if at <= self._last:
            return
        looks = at % LOOK_SECONDS == 0
        if looks:
            self._list()
        self._write(at, self._take_traces(at - TRACE_SECONDS, traces) if looks else ())
        self._last = at

    def finish(self, at: float, traces: ReadTraces) -> None:
        """Write what is left once nothing more will happen: the traces of the last requests."""
        if math.isfinite(self._last):
            self._write(max(at, self._last), self._take_traces(at, traces))

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
        try:
            with self._file.open("ab") as stream:
                stream.write(msgspec.json.encode(tick) + b"\n")
        except OSError as error:
            raise LabError(
                f"{self._file}: the recording cannot be written: {error.strerror}", fix="make room on the disk"
            ) from error

    def _compare(self) -> tuple[list[Object], list[RemovedObject]]:
        """Compare what is there with what was written: new and changed objects, and those that are gone."""
        present: dict[_Key, Object] = {}
        for namespace in self._spec.everywhere:
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
        """List the kinds that no informer follows."""
        self._listed = {
            (kind, namespace, obj["metadata"]["name"]): obj
            for namespace in self._spec.everywhere
            for kind, group in _LISTED
            for obj in self._cluster.list(kind, namespace, group=group)
        }
