"""Pace the HPA controller: one sync per tick of a world, as with its default period.

The lab's controller has a very short sync period; its metrics requests are held until the world has new metrics. So it
syncs every 15 s in a wall-clock world and at every tick in a virtual one, however fast ticks follow each other. While
a request is held, the controller has finished the last tick, so a virtual world can advance.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.settle.checks import Reason
from scenario_kit.lab.settle.checks.settle_context import find_condition
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.label_selector import Selector, parse, parse_object

KIND: Final = "HorizontalPodAutoscaler"
_AGENT_BEGINS, _AGENT_ENDS = "kube-controller-manager", "/horizontal-pod-autoscaler"
#: The API server times out after a minute; a request held this long is answered from the old metrics.
_LONGEST_SECONDS = 45.0
_POLL_SECONDS = 0.5
_RESOURCE_METRICS = ("Resource", "ContainerResource")
_TARGETS = ("Deployment", "StatefulSet", "ReplicaSet")
#: Condition reasons with which the controller stops before it requests metrics.
_BLOCKED_REASONS = frozenset({
    "AmbiguousSelector", "FailedGetScale", "InvalidMetricSourceType", "InvalidSelector", "ScalingDisabled",
})  # fmt: skip

#: Returns the time of a namespace's latest metrics, on its own clock; changes with every tick.
TickOf = Callable[[str], float]
Key = tuple[str, Selector]


@dataclass
class _SyncState:
    """The requests for one autoscaler: the tick last served, requests served in it, and the tick being held."""

    turn: tuple[float, int] | None = None
    requests: int = 0
    held: tuple[float, int] | None = None


class MetricsGate:
    """Holds metrics requests of the HPA controller; thread-safe. ``on_event`` is a store listener."""

    def __init__(self, store: ObjectStore, tick_of: TickOf) -> None:
        self._store = store
        self._tick_of = tick_of
        self._changed = threading.Condition()
        self._keys: dict[Key, _SyncState] = {}
        self._released: dict[str, int] = {}
        self._specs: dict[str, Object] = {}
        self._closed = False

    def pace(self, namespace: str, selector: str, agent: str) -> None:
        """Block until the controller may sync again; other clients pass. Called before a request is answered."""
        if not (agent.startswith(_AGENT_BEGINS) and agent.endswith(_AGENT_ENDS)):
            return
        key = (namespace, parse(selector))
        requests = (
            _count_requests(hpa)
            for hpa, workload in self._targets(namespace)
            if parse_object(workload["spec"].get("selector") or {}) == key[1]
        )
        expected = max(requests, default=1)
        deadline = time.monotonic() + _LONGEST_SECONDS
        with self._changed:
            own = self._keys.setdefault(key, _SyncState())
            if own.turn == self._turn(namespace) and own.requests >= expected:
                own.held = own.turn
                self._changed.notify_all()
                while own.turn == self._turn(namespace) and not self._closed:
                    left = deadline - time.monotonic()
                    if left <= 0:
                        break
                    self._changed.wait(min(left, _POLL_SECONDS))  # outside of a world nothing calls notify_tick
                own.held = None
                own.turn = None
            if own.turn != self._turn(namespace):
                own.turn, own.requests = self._turn(namespace), 0
            own.requests += 1

    def notify_tick(self) -> None:
        """Wake requests that wait for new metrics."""
        with self._changed:
            self._changed.notify_all()

    def release(self, namespace: str) -> None:
        """Allow one more sync on the same metrics: something else has changed."""
        with self._changed:
            self._released[namespace] = self._released.get(namespace, 0) + 1
            self._changed.notify_all()

    def close(self) -> None:
        """Release all held requests."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def on_event(self, type_: str, kind: str, obj: Object) -> None:
        """Allow another sync after an autoscaler's spec has changed or the autoscaler is gone."""
        if kind != KIND:
            return
        meta = obj["metadata"]
        with self._changed:
            before = self._specs.pop(meta["uid"], None)
            if type_ != "DELETED":
                self._specs[meta["uid"]] = obj["spec"]
        if type_ == "DELETED" or (before is not None and before != obj["spec"]):
            self.release(meta["namespace"])

    def list_unfinished(self, namespace: str) -> list[Reason]:
        """List the autoscalers whose controller has not yet read the latest metrics or acted on them."""
        reasons = []
        targets = list(self._targets(namespace))
        with self._changed:
            turn = self._turn(namespace)
            for hpa, workload in targets:
                own = self._keys.get((namespace, parse_object(workload["spec"].get("selector") or {})))
                name, text = hpa["metadata"]["name"], ""
                if not is_within(hpa, workload):
                    text = "the replicas of its target are outside of its bounds"
                elif is_querying(hpa) and (own is None or own.held != turn):
                    text = "its controller has not processed the latest metrics"
                if text:
                    reasons.append(Reason("Autoscaler", KIND, name, text))
        return reasons

    def wait(self, namespace: str, seconds: float) -> list[Reason]:
        """Wait up to ``seconds`` (wall) until all syncs are finished; return what is unfinished."""
        deadline = time.monotonic() + seconds
        while (reasons := self.list_unfinished(namespace)) and (left := deadline - time.monotonic()) > 0:
            with self._changed:
                self._changed.wait(min(left, 0.1))  # object changes do not notify this condition
        return reasons

    def _turn(self, namespace: str) -> tuple[float, int]:
        return self._tick_of(namespace), self._released.get(namespace, 0)

    def _targets(self, namespace: str) -> Iterator[tuple[Object, Object]]:
        """Yield active autoscalers with their targets; a target with zero replicas disables its autoscaler."""
        for hpa in self._store.names(namespace, KIND).values():
            target = hpa["spec"]["scaleTargetRef"]
            if target["kind"] in _TARGETS:
                workload = self._store.get(namespace, target["kind"], target["name"])
                if workload is not None and workload["spec"].get("replicas", 1):
                    yield hpa, workload


def is_querying(hpa: Object) -> bool:
    """Return whether the controller requests resource metrics for an autoscaler, going by its conditions."""
    found = (find_condition(hpa, kind) for kind in ("AbleToScale", "ScalingActive"))
    reasons = {each["reason"] for each in found if each is not None and each["status"] != "True"}
    return "deletionTimestamp" not in hpa["metadata"] and _count_requests(hpa) > 0 and not reasons & _BLOCKED_REASONS


def is_within(hpa: Object, workload: Object) -> bool:
    """Return whether the replicas are within the autoscaler's bounds; otherwise it corrects them without metrics."""
    spec, replicas = hpa["spec"], int(workload["spec"].get("replicas", 1))
    return int(spec.get("minReplicas", 1)) <= replicas <= int(spec["maxReplicas"])


def _count_requests(hpa: Object) -> int:
    """Count the metrics requests per sync: one per resource metric."""
    return sum(metric["type"] in _RESOURCE_METRICS for metric in hpa["spec"].get("metrics") or ())
