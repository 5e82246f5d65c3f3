"""Horizontal pod autoscaling in virtual time, by the real HPA controller, which runs on wall time.

The controller decides on metrics, so a world waits for it after every tick (``settle.hpa_pacing``). It also keeps its
recommendations of the last five minutes, to stabilise scale-down. ``TickMemory`` computes that window in virtual time;
for one sync, the autoscaler gets the ``stabilizationWindowSeconds`` that cover the same recommendations in wall time.

At other times the autoscaler has an explicit ``spec.behavior`` that equals the default. Without it, the controller
would scale back up to a recommendation of the last five minutes of wall time. The field is not removed again: the
autoscaler belongs to the trial.

A user-defined ``spec.behavior`` would have to be translated at every sync; a world that contains one requires the
wall clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from scenario_kit.errors import NotFound
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.settle.checks import Reason
from scenario_kit.lab.settle.checks.settle_context import find_condition
from scenario_kit.lab.settle.hpa_pacing import KIND, MetricsGate
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster

#: The controller's default stabilisation window, in seconds.
WINDOW: Final = 300
_STABILISED = "ScaleDownStabilized"
#: The default scale-up policies: double, or add four, per period. A period is at least 1 s; a tick may be shorter.
_PERIOD_SECONDS = 1
_GROWTH = [
    {"type": "Percent", "value": 100, "periodSeconds": _PERIOD_SECONDS},
    {"type": "Pods", "value": 4, "periodSeconds": _PERIOD_SECONDS},
]
#: The window must end before the controller records its next recommendation; a sync takes a moment.
_EARLY_SECONDS = 0.02
#: Wall seconds for the store to receive a patched autoscaler.
_NEWS_SECONDS = 5.0


class TickMemory:
    """Map ticks to the wall times at which their metrics were published, and track scale-down stabilisation."""

    def __init__(self) -> None:
        self._published: list[tuple[float, float]] = []
        self._since: dict[str, float] = {}

    def record_tick(self, tick: float, wall: float) -> None:
        """Record that the metrics of ``tick`` were published at ``wall`` (monotonic seconds)."""
        self._published = [*(each for each in self._published if each[0] > tick - 2 * WINDOW), (tick, wall)]

    def list_overdue(self, autoscalers: Iterable[Object], tick: float) -> list[Object]:
        """List the autoscalers whose scale-down has been stabilised for a whole window; call at every tick."""
        found, holding = [], {}
        for hpa in autoscalers:
            able = find_condition(hpa, "AbleToScale")
            if able is not None and able["reason"] == _STABILISED:
                uid = hpa["metadata"]["uid"]
                holding[uid] = self._since.get(uid, tick)
                if tick - holding[uid] >= WINDOW:
                    found.append(hpa)
        self._since = holding
        return found

    def compute_window(self, tick: float, wall: float) -> tuple[int, float]:
        """Compute the window in whole wall seconds, and the monotonic time of the sync at which it fits exactly."""
        first = next((at for published, at in self._published if published > tick - WINDOW), wall)
        seconds = max(1, math.ceil(wall - first))
        return seconds, first + seconds - _EARLY_SECONDS


class Autoscalers:
    """The autoscalers of one world in virtual time; not thread-safe."""

    def __init__(self, store: ObjectStore, gate: MetricsGate, cluster: Cluster, namespaces: Sequence[str]) -> None:
        self._store = store
        self._gate = gate
        self._cluster = cluster
        self._namespaces = namespaces
        self._memory = TickMemory()

    def release_metrics(self, tick: float) -> None:
        """Release the controller's requests that wait for the metrics of a tick."""
        self._memory.record_tick(tick, time.monotonic())
        self._gate.notify_tick()

    def has_any(self) -> bool:
        """Return whether the world has autoscalers."""
        return any(self._store.names(namespace, KIND) for namespace in self._namespaces)

    def await_controller(self, seconds: float) -> list[Reason]:
        """Wait up to ``seconds`` (wall) for the controller; return why it has not finished or cannot be awaited."""
        deadline = time.monotonic() + seconds
        reasons = [_needs_wall(hpa) for hpa in self._list_all() if _is_foreign(hpa["spec"].get("behavior"))]
        for namespace in self._namespaces:
            reasons += self._gate.wait(namespace, max(deadline - time.monotonic(), 0.0))
        return reasons

    def scale_down_overdue(self, tick: float, settle: Callable[[], None], seconds: float) -> None:
        """Let the controller scale down the autoscalers whose stabilisation window has passed in virtual time.

        This takes four syncs: one to measure a sync, one with the translated window (it scales down), one to update
        the status, and one with the default window.
        """
        deadline = time.monotonic() + seconds
        for hpa in self._memory.list_overdue(self._list_all(), tick):
            namespace = hpa["metadata"]["namespace"]
            window, at = self._memory.compute_window(
                tick, time.monotonic() + _measure_sync(self._gate, namespace, deadline)
            )
            try:
                if not self._patch(hpa, build_behavior(window)):
                    continue
                self._run_sync(namespace, deadline)
                time.sleep(max(at - time.monotonic(), 0.0))
                self._run_sync(namespace, deadline)
                settle()
                self._run_sync(namespace, deadline)
            finally:
                self._patch(hpa, build_behavior(WINDOW))
            self._run_sync(namespace, deadline)

    def _run_sync(self, namespace: str, deadline: float) -> None:
        self._gate.release(namespace)
        self._gate.wait(namespace, max(deadline - time.monotonic(), 0.0))

    def _patch(self, hpa: Object, rules: Object) -> bool:
        """Set ``spec.behavior`` and wait until the store has it; False if the autoscaler is gone."""
        meta = hpa["metadata"]
        try:
            after = self._cluster.patch(
                Reference(KIND, meta["name"], meta["namespace"], "autoscaling"), {"spec": {"behavior": rules}}
            )
        except NotFound:
            return False
        version = int(after["metadata"]["resourceVersion"])

        def is_current() -> bool:
            held = self._store.get(meta["namespace"], KIND, meta["name"])
            return held is None or int(held["metadata"]["resourceVersion"]) >= version

        self._store.wait(is_current, _NEWS_SECONDS)
        return True

    def _list_all(self) -> list[Object]:
        return [hpa for namespace in self._namespaces for hpa in self._store.names(namespace, KIND).values()]


def build_behavior(window: int) -> Object:
    """Build a ``spec.behavior`` equal to the default except for the stabilisation window."""
    return {"scaleUp": {"policies": _GROWTH}, "scaleDown": {"stabilizationWindowSeconds": window}}


def _is_foreign(rules: Object | None) -> bool:
    """Return whether ``spec.behavior`` was set by the user."""
    policies = ((rules or {}).get("scaleUp") or {}).get("policies") or ()
    return bool(rules) and [policy["periodSeconds"] for policy in policies] != [_PERIOD_SECONDS] * len(_GROWTH)


def _measure_sync(gate: MetricsGate, namespace: str, deadline: float) -> float:
    """Run one sync; return the wall seconds until the one after next."""
    began = time.monotonic()
    gate.release(namespace)
    gate.wait(namespace, max(deadline - began, 0.0))
    return 2 * (time.monotonic() - began)


def _needs_wall(hpa: Object) -> Reason:
    text = "has a user-defined behavior, whose periods follow wall time: run this trial on the wall clock"
    return Reason("NeedsWall", KIND, hpa["metadata"]["name"], text)
