"""Observation of an app through its cluster: the state at one tick, and its changes since the previous one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.errors import NotFound, Unreachable
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.reference import identify_object
from scenario_kit.model.runtime.recording import RecordedLine, RecordedTick, RemovedObject
from scenario_kit.model.runtime.trace import Trace
from scenario_kit.ports import Cluster, LogLine

#: Returns the traces of requests that started between two times.
ReadTraces = Callable[[float, float], Sequence[Trace]]


class _Observed(NamedTuple):
    kind: str
    group: str = ""


#: Kinds in a snapshot; Secrets and objects of the fault injector are left out.
_KINDS: Final = (
    _Observed("Pod"), _Observed("Service"), _Observed("ConfigMap"), _Observed("ServiceAccount"),
    _Observed("PersistentVolumeClaim"), _Observed("LimitRange"), _Observed("ResourceQuota"),
    _Observed("Deployment", "apps"), _Observed("ReplicaSet", "apps"), _Observed("StatefulSet", "apps"),
    _Observed("DaemonSet", "apps"), _Observed("Job", "batch"), _Observed("CronJob", "batch"),
    _Observed("EndpointSlice", "discovery.k8s.io"), _Observed("NetworkPolicy", "networking.k8s.io"),
    _Observed("Ingress", "networking.k8s.io"), _Observed("HorizontalPodAutoscaler", "autoscaling"),
    _Observed("PodDisruptionBudget", "policy"),
)  # fmt: skip
#: Delay in seconds before a trace is read, so that its request has ended.
TRACE_SECONDS: Final = 120.0
#: Seconds between reads of traces.
TRACE_INTERVAL: Final = 60.0
#: Seconds by which reads of a log overlap, since lines of several containers arrive out of order.
_OVERLAP: Final = 5.0

_Key = tuple[str, str, str]
_Line = tuple[str, float, str]


class ClusterObserver:
    """Reads the objects, events, logs and traces of an app's namespaces; each read reports changes since the last.

    Everything is read over ``ports.Cluster`` with the caller's credential. Without ``traces``, there are none.
    """

    def __init__(self, cluster: Cluster, namespaces: Sequence[str], traces: ReadTraces | None) -> None:
        self._cluster = cluster
        self._namespaces = tuple(namespaces)
        self._traces = traces
        self._versions: dict[_Key, tuple[str, str]] = {}
        self._events: dict[str, str] = {}
        self._read: dict[str, tuple[float, Counter[_Line]]] = {}
        self._traced = 0.0

    def require_access(self) -> None:
        """Read everything once, so that a missing permission is known before an incident is played.

        Raises:
            ClusterError: something cannot be read.
        """
        for _ in self._list_objects():
            pass
        for namespace in self._namespaces:
            self._cluster.list("Event", namespace)

    def observe(self, at: float) -> RecordedTick:
        """Look once; ``at`` is the time of the look.

        Raises:
            ClusterError: the API server does not respond, or refuses. Nothing is lost: the next look reports it.
            InfrastructureError: the traces cannot be read.
        """
        present = {identify_object(obj): obj for obj in self._list_objects()}
        events = [event for namespace in self._namespaces for event in self._cluster.list("Event", namespace)]
        lines, read = self._read_lines([obj for key, obj in present.items() if key[0] == "Pod"])
        traces: Sequence[Trace] = ()
        if at - TRACE_SECONDS >= self._traced + TRACE_INTERVAL:
            traces = self._take_traces(at - TRACE_SECONDS)
        versions = {key: _get_version(obj) for key, obj in present.items()}
        tick = RecordedTick(
            at=at,
            objects=tuple(_strip(obj) for key, obj in present.items() if self._versions.get(key) != versions[key]),
            removed=tuple(RemovedObject(*key) for key in self._versions if key not in versions),
            events=tuple(_strip(event) for event in events if self._is_new(event)),
            lines=tuple(lines),
            traces=tuple(traces),
        )
        self._versions, self._read = versions, read
        self._events |= {event["metadata"]["uid"]: event["metadata"]["resourceVersion"] for event in events}
        return tick

    def finish(self, at: float) -> RecordedTick:
        """Return the traces that are left.

        Raises:
            InfrastructureError: they cannot be read.
        """
        return RecordedTick(at=at, traces=tuple(self._take_traces(at)))

    def begin(self, at: float) -> None:
        """Set the time from which traces are read."""
        self._traced = at

    def _is_new(self, event: Object) -> bool:
        version: str = event["metadata"]["resourceVersion"]
        return self._events.get(event["metadata"]["uid"]) != version

    def _list_objects(self) -> Iterator[Object]:
        """List the objects of the app, all nodes, and the volumes that the app has claimed."""
        for namespace in self._namespaces:
            for kind, group in _KINDS:
                yield from self._cluster.list(kind, namespace, group=group)
        yield from self._cluster.list("Node")
        for volume in self._cluster.list("PersistentVolume"):
            if (volume["spec"].get("claimRef") or {}).get("namespace") in self._namespaces:
                yield volume

    def _read_lines(self, pods: Sequence[Object]) -> tuple[list[RecordedLine], dict[str, tuple[float, Counter[_Line]]]]:
        """Return new lines of the pods, by time, and how far each log is read now."""
        found: list[RecordedLine] = []
        read: dict[str, tuple[float, Counter[_Line]]] = {}
        for pod in pods:
            uid, namespace = pod["metadata"]["uid"], pod["metadata"]["namespace"]
            since, known = read[uid] = self._read.get(uid, (0.0, Counter[_Line]()))
            try:
                lines = self._cluster.logs(pod, since=since)
            except NotFound:
                continue  # deleted since it was listed
            except Unreachable:
                continue  # its kubelet is silent, which may be the incident; a later look reads on from here
            found += [RecordedLine(namespace, n.pod, n.container, n.at, n.text) for n in _skip(lines, known)]
            since = max(since, max((line.at for line in lines), default=0.0) - _OVERLAP)
            read[uid] = since, Counter((n.container, n.at, n.text) for n in lines if n.at >= since)
        return sorted(found, key=lambda line: line.at), read

    def _take_traces(self, until: float) -> Sequence[Trace]:
        if self._traces is None or until <= self._traced:
            return ()
        found = self._traces(self._traced, until)
        self._traced = until
        return found


def _skip(lines: Sequence[LogLine], known: Counter[_Line]) -> Iterator[LogLine]:
    """Yield the lines that were not read before; equal lines count."""
    left = known.copy()
    for line in lines:
        mark = (line.container, line.at, line.text)
        if left[mark] > 0:
            left[mark] -= 1
        else:
            yield line


def _get_version(obj: Object) -> tuple[str, str]:
    return obj["metadata"]["uid"], obj["metadata"]["resourceVersion"]


def _strip(obj: Object) -> Object:
    """Return an object without its field managers, which a recording does not show."""
    metadata: dict[str, Any] = {k: v for k, v in obj["metadata"].items() if k != "managedFields"}
    return {**obj, "metadata": metadata}
