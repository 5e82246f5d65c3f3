"""The control loop: find due pods, decide with ``status``, write the results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Literal, NamedTuple

from scenario_kit.errors import Conflict, NotFound
from scenario_kit.lab.kubelet.addresses import Addresses
from scenario_kit.lab.kubelet.event_queue import KeyedWriteQueue
from scenario_kit.lab.kubelet.image.images import ImageCache
from scenario_kit.lab.kubelet.image.processes import Processes
from scenario_kit.lab.kubelet.logs import LogFolder
from scenario_kit.lab.kubelet.pod import times
from scenario_kit.lab.kubelet.pod.context import ConfigLookup, Line, Restarted
from scenario_kit.lab.kubelet.pod.events import EventRecorder
from scenario_kit.lab.kubelet.pod.pod_record import Record, extract_essence
from scenario_kit.lab.kubelet.pod.pod_state import recall
from scenario_kit.lab.kubelet.status import PodTransition, SyncInputs, compute_pod_status
from scenario_kit.lab.kubelet.writer import KubeletWriter
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers
from scenario_kit.model.kubernetes.status import list_container_statuses, list_serving_statuses, rank_by_age
from scenario_kit.model.runtime.process import Exit, LogRecord

_KILLED = 137

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


class KubeletSources(NamedTuple):
    """The kubelets' inputs besides pods.

    Args:
        read_clock: returns the time of a namespace.
        processes_of: returns the processes of a namespace.
        lookup_of: returns the ConfigMaps, Secrets and claims of a namespace; must be authoritative.
        node_of: returns a simulated node by name; None if it is gone or not simulated.
    """

    read_clock: Callable[[str], float]
    processes_of: Callable[[str], Processes]
    lookup_of: Callable[[str], ConfigLookup]
    node_of: Callable[[str], Object | None]


class Kubelet:
    """All kubelets of a lab in one.

    Args:
        writer: writes status, events and deletions; called from several threads.
        sources: clocks, processes, configuration and nodes.
        logs: the folder for container logs; None disables logs.
        workers: the number of writer threads.
    """

    def __init__(
        self, writer: KubeletWriter, sources: KubeletSources, *, logs: LogFolder | None = None, workers: int = 8
    ) -> None:
        self._writer = writer
        self._clock_of, self._processes_of, self._lookup_of, self._node_of = sources
        self._logs = logs
        self._images = ImageCache()
        self._addresses = Addresses()
        self._recorder = EventRecorder()
        self._records: dict[str, Record] = {}
        self._lock = threading.RLock()
        self._running: dict[str, threading.Lock] = {}
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="kubelet")
        self._later = KeyedWriteQueue("kubelet-events")

    def close(self) -> None:
        """Finish queued writes and stop the threads."""
        self._later.close()
        self._pool.shutdown()

    def observe(self, event_type: EventType, pod: Object) -> None:
        """Process a watch event of a pod. Pods without a node are ignored."""
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        if not node:
            return
        with self._lock:
            record = self._records.get(uid)
            if event_type == "DELETED":
                self._forget(uid, pod)
            elif record is None:
                self._records[uid] = self._admit(pod, node)
            else:
                record.dirty = record.dirty or extract_essence(pod) != extract_essence(record.pod)
                record.pod = pod
                record.dirty = record.dirty or record.is_altered()

    def run_once(self, namespace: str | None = None, now: float | None = None) -> int:
        """Sync every pod that has changed or is due; return the number of written statuses and deletions.

        Args:
            namespace: one namespace; None for all.
            now: the time; None for each namespace's clock.

        Raises:
            ClusterError: a write failed although its pod exists; the pod stays due.
        """
        with self._lock:
            spaces = {r.namespace for r in self._records.values()} if namespace is None else {namespace}
        for space in spaces:
            self._later.check(space)
        return sum(self._run(space, self._clock_of(space) if now is None else now) for space in sorted(spaces))

    def next_wakeup(self, namespace: str) -> float | None:
        """Return when the next pod of the namespace is due; the present if one has changed; None if none is due."""
        with self._lock:
            records = [r for r in self._records.values() if self._mine(r, namespace)]
            if any(r.dirty or r.deaths for r in records):
                return self._clock_of(namespace)
            return min((r.wakeup for r in records if r.wakeup is not None), default=None)

    def flush(self, namespace: str | None = None, seconds: float | None = None) -> bool:
        """Wait until queued events of a namespace (None: all) are written; False on timeout.

        Raises:
            ClusterError: a write failed.
        """
        return self._later.flush(namespace, seconds)

    def handle_exits(self, exits: Iterable[Exit], now: float) -> None:
        """Process exits at ``now``, as reported by the twin; unknown pods are gone already."""
        with self._lock:
            for exit in exits:
                record = self._records.get(exit.pod_uid)
                if record is not None:
                    record.deaths.append((now, exit))

    def container_killed(self, pod_uid: str, container_id: str, now: float) -> bool:
        """Process a SIGKILL from outside; False if no running container has that ID."""
        with self._lock:
            record = self._records.get(pod_uid)
            for entry in list_serving_statuses(record.current()) if record else ():
                if entry.get("containerID") == container_id and "running" in entry["state"]:
                    self.handle_exits([Exit(pod_uid, entry["name"], _KILLED, "Error")], now)
                    return True
        return False

    def append(self, namespace: str, records: Iterable[LogRecord]) -> None:
        """Append output of containers to their logs; lines of deleted pods are dropped."""
        if self._logs is None:
            return
        grouped: dict[tuple[str, str], list[tuple[float, str]]] = {}
        for record in records:
            grouped.setdefault((record.pod, record.container), []).append((record.t, record.text))
        for (pod, container), lines in grouped.items():
            self._logs.append(namespace, pod, container, lines)

    def listed(self) -> None:
        """Delete logs of pods that were deleted during a restart, once the first list of pods is complete."""
        if self._logs is not None:
            with self._lock:
                known = set(self._records)
            self._logs.prune(known)

    def forget(self, namespace: str) -> None:
        """Drop the state of a closed world: a next one of this name pulls images again, and queued events are moot."""
        self._images.forget(namespace)
        self._later.drop(namespace)

    def _admit(self, pod: Object, node: str) -> Record:
        status = pod.get("status") or {}
        address = status.get("podIP", "")
        if address and not pod["spec"].get("hostNetwork"):
            self._addresses.reserve(node, address)
        for entry in list_container_statuses(status):
            if entry.get("imageID"):
                started = (entry["state"].get("running") or entry["state"].get("terminated") or {}).get("startedAt")
                self._images.add(pod["metadata"]["namespace"], entry["image"], times.parse_or(started, 0.0))
        self._learn(pod["metadata"]["namespace"], pod["spec"], status)
        return Record(pod, ip=address)

    def _learn(self, namespace: str, spec: Object, status: Object) -> None:
        """Record which programs images have, from running containers."""
        running = {s["name"] for s in list_container_statuses(status) if "running" in s["state"]}
        for container in list_serving_containers(spec):
            if container["name"] in running:
                self._images.learn(namespace, container["image"], next(iter(container.get("command") or ()), ""))

    def _forget(self, uid: str, pod: Object) -> None:
        record = self._records.pop(uid, None)
        self._recorder.forget(uid)
        if record is None:
            return
        self._addresses.release(record.ip)
        if self._logs is not None:
            self._logs.remove(pod)

    def _run(self, namespace: str, now: float) -> int:
        with self._lock:
            turn = self._running.setdefault(namespace, threading.Lock())
        with turn:
            pending: list[tuple[Record, Future[int]]] = []
            writes, failure = 0, None
            for record in self._due(namespace, now):
                try:
                    transition, patch = self._decide(record, namespace, now)
                    pending.append((record, self._pool.submit(self._write, record, transition, patch)))
                except Exception as error:  # noqa: BLE001 - raised below, once every pod had its turn
                    failure, record.dirty = error, True
            for record, future in pending:
                try:
                    writes += future.result()
                except Exception as error:  # noqa: BLE001 - as above
                    failure, record.dirty = error, True
            if failure is not None:
                raise failure
            return writes

    def _due(self, namespace: str, now: float) -> list[Record]:
        with self._lock:
            due = [
                record
                for record in self._records.values()
                if self._mine(record, namespace)
                and (record.dirty or record.deaths or (record.wakeup is not None and record.wakeup <= now))
            ]
            for record in due:
                record.dirty = False
        return sorted(due, key=_rank)

    def _mine(self, record: Record, namespace: str) -> bool:
        """Return whether the pod is in the namespace and on an existing simulated node."""
        return record.namespace == namespace and self._node_of(record.node) is not None

    def _decide(self, record: Record, namespace: str, now: float) -> tuple[PodTransition, Object]:
        processes = self._processes_of(namespace)
        pod = record.current()
        node_name = pod["spec"]["nodeName"]
        with self._lock:
            deaths, record.deaths = record.deaths, []
            if self._logs is not None and not record.shown:
                record.shown = True
                self._logs.add(pod)
            if not record.ip and not pod["spec"].get("hostNetwork"):
                record.ip = self._addresses.allocate(node_name)
        memory = record.memory
        if deaths:
            memory = memory or recall(pod, processes, now)
            for at, exit in deaths:
                own = memory.of(exit.container)
                own.exit, own.exit_at = exit, min(at, now)
                memory.wakeup = min(memory.wakeup or now, own.exit_at)
            record.memory = memory
        transition = compute_pod_status(
            pod,
            SyncInputs(self._node_of(node_name), self._lookup_of(namespace), processes, self._images.of(namespace)),
            now,
            ip=record.ip,
            memory=memory,
        )
        for image, at in transition.pulled:
            self._images.add(namespace, image, at)
        self._learn(namespace, pod["spec"], transition.status)
        return transition, record.patch_to(transition.status)

    def _write(self, record: Record, transition: PodTransition, patch: Object) -> int:
        writes = 0
        try:
            if patch:
                record.stored = self._writer.write_status(record.pod, patch)
                writes += 1
            record.status, record.memory = transition.status, transition.memory
            if transition.gone and record.pod["metadata"].get("deletionGracePeriodSeconds") != 0:
                self._writer.delete_pod(record.pod)
                writes += 1
        except (NotFound, Conflict):
            record.dirty = True  # the pod is probably gone; the watch will report it
            return writes
        self._publish(record.pod, transition)
        return writes

    def _publish(self, pod: Object, transition: PodTransition) -> None:
        meta = pod["metadata"]
        if self._logs is not None:
            for item in transition.output:
                if isinstance(item, Restarted):
                    self._logs.begin(meta["namespace"], meta["name"], item.container, item.attempt)
                elif isinstance(item, Line):
                    self._logs.append(meta["namespace"], meta["name"], item.container, [(item.at, item.text)])
        for event in transition.events:
            obj = self._recorder.record(pod, event)
            if obj is not None:
                self._later.put(meta["namespace"], partial(self._writer.emit_event, obj))


def _rank(record: Record) -> tuple[str, ...]:
    """Rank pods by owner: the order in which they were scheduled depends on the machine's load."""
    return rank_by_age(record.current())
