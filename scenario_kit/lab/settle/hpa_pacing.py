"""How often the controller of autoscalers looks at metrics: once per tick of a world, as it would with its own period.

The real controller asks again a moment after it has decided (its period is set that short), and its request is held
until the world has new metrics. So a world by the wall clock is looked at every 15 s, and one in virtual time at every
tick, however fast ticks follow each other. A controller whose request is held has finished what it made of the last
tick: that is how a world in virtual time knows that it may go on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.settle.settled import Reason
from scenario_kit.lab.settle.settled.settle_context import find_condition
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.label_selector import Requirement, Selector, parse

KIND: Final = "HorizontalPodAutoscaler"
_AGENT_BEGINS, _AGENT_ENDS = "kube-controller-manager", "/horizontal-pod-autoscaler"
#: The API server gives up on a request after a minute; one that is held that long is answered from the old metrics.
_LONGEST_SECONDS = 45.0
_POLL_SECONDS = 0.5
_RESOURCE_METRICS = ("Resource", "ContainerResource")
_TARGETS = ("Deployment", "StatefulSet", "ReplicaSet")
#: Why the controller, by its own account, does not get as far as asking for metrics.
_DOES_NOT_ASK = frozenset({
    "AmbiguousSelector", "FailedGetScale", "InvalidMetricSourceType", "InvalidSelector", "ScalingDisabled",
})  # fmt: skip

#: When the latest metrics of a namespace were taken, on its own clock; changes with every tick.
TickOf = Callable[[str], float]
Key = tuple[str, Selector]


@dataclass
class _Looking:
    """One autoscaler's controller: which metrics it was last answered from, how often, and which it has finished."""

    turn: tuple[float, int] | None = None
    asked: int = 0
    held: tuple[float, int] | None = None


class Looks:
    """Holds requests of the autoscalers' controller. Safe to share. ``heard`` is a listener of the store."""

    def __init__(self, store: ObjectStore, tick_of: TickOf) -> None:
        self._store = store
        self._tick_of = tick_of
        self._changed = threading.Condition()
        self._keys: dict[Key, _Looking] = {}
        self._released: dict[str, int] = {}
        self._specs: dict[str, Object] = {}
        self._closed = False

    def pace(self, namespace: str, selector: str, agent: str) -> None:
        """Return at once, or when this program may look again; called before a request is answered."""
        if not (agent.startswith(_AGENT_BEGINS) and agent.endswith(_AGENT_ENDS)):
            return
        key = (namespace, parse(selector))
        asked = (
            _count_requests(hpa)
            for hpa, workload in self._targets(namespace)
            if parse_requirements(workload["spec"].get("selector") or {}) == key[1]
        )
        questions = max(asked, default=1)
        deadline = time.monotonic() + _LONGEST_SECONDS
        with self._changed:
            own = self._keys.setdefault(key, _Looking())
            if own.turn == self._turn(namespace) and own.asked >= questions:
                own.held = own.turn
                self._changed.notify_all()
                while own.turn == self._turn(namespace) and not self._closed:
                    left = deadline - time.monotonic()
                    if left <= 0:
                        break
                    self._changed.wait(min(left, _POLL_SECONDS))  # where there is no world, nobody publishes
                own.held = None
                own.turn = None
            if own.turn != self._turn(namespace):
                own.turn, own.asked = self._turn(namespace), 0
            own.asked += 1

    def published(self) -> None:
        """Wake those that wait for new metrics."""
        with self._changed:
            self._changed.notify_all()

    def release(self, namespace: str) -> None:
        """Let the controller look again at the metrics that it has seen: something else has changed."""
        with self._changed:
            self._released[namespace] = self._released.get(namespace, 0) + 1
            self._changed.notify_all()

    def close(self) -> None:
        """Answer everybody."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def heard(self, type_: str, kind: str, obj: Object) -> None:
        """Note a change: an autoscaler that is looked after as it was before is looked after anew."""
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
        """List the autoscalers whose controller has yet to look at the latest metrics, or to act on them."""
        reasons = []
        targets = list(self._targets(namespace))
        with self._changed:
            turn = self._turn(namespace)
            for hpa, workload in targets:
                own = self._keys.get((namespace, parse_requirements(workload["spec"].get("selector") or {})))
                name, text = hpa["metadata"]["name"], ""
                if not is_within(hpa, workload):
                    text = "its target has not as many replicas as its bounds allow"
                elif asks(hpa) and (own is None or own.held != turn):
                    text = "its controller has not finished with the latest metrics"
                if text:
                    reasons.append(Reason("Autoscaler", KIND, name, text))
        return reasons

    def wait(self, namespace: str, seconds: float) -> list[Reason]:
        """Wait up to ``seconds`` (wall) until nothing is unfinished; what still is."""
        deadline = time.monotonic() + seconds
        while (reasons := self.list_unfinished(namespace)) and (left := deadline - time.monotonic()) > 0:
            with self._changed:
                self._changed.wait(min(left, 0.1))  # objects change without telling
        return reasons

    def _turn(self, namespace: str) -> tuple[float, int]:
        return self._tick_of(namespace), self._released.get(namespace, 0)

    def _targets(self, namespace: str) -> Iterator[tuple[Object, Object]]:
        """Return the autoscalers with what they scale; those at work, that is: a target at zero switches them off."""
        for hpa in self._store.names(namespace, KIND).values():
            target = hpa["spec"]["scaleTargetRef"]
            if target["kind"] in _TARGETS:
                workload = self._store.get(namespace, target["kind"], target["name"])
                if workload is not None and workload["spec"].get("replicas", 1):
                    yield hpa, workload


def asks(hpa: Object) -> bool:
    """Check whether the controller asks for resource metrics at all, as far as it says itself."""
    found = (find_condition(hpa, kind) for kind in ("AbleToScale", "ScalingActive"))
    reasons = {each["reason"] for each in found if each is not None and each["status"] != "True"}
    return "deletionTimestamp" not in hpa["metadata"] and _count_requests(hpa) > 0 and not reasons & _DOES_NOT_ASK


def is_within(hpa: Object, workload: Object) -> bool:
    """Check whether the replicas are between the autoscaler's bounds: elsewhere it corrects them without metrics."""
    spec, replicas = hpa["spec"], int(workload["spec"].get("replicas", 1))
    return int(spec.get("minReplicas", 1)) <= replicas <= int(spec["maxReplicas"])


def parse_requirements(selector: Object) -> Selector:
    """Parse a label selector of a workload in the form in which the controller asks by it."""
    found = [Requirement(key, frozenset((value,)), True) for key, value in (selector.get("matchLabels") or {}).items()]
    for each in selector.get("matchExpressions") or ():
        values = frozenset(each["values"]) if each["operator"] in ("In", "NotIn") else None
        found.append(Requirement(each["key"], values, each["operator"] in ("In", "Exists")))
    return frozenset(found)


def _count_requests(hpa: Object) -> int:
    """Count how many requests one look takes: one per metric."""
    return sum(metric["type"] in _RESOURCE_METRICS for metric in hpa["spec"].get("metrics") or ())
