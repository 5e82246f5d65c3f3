"""Autoscalers in virtual time: their controller lives by the wall clock, and is the real one.

It decides on metrics, so it is waited for after every tick (``server.looks``). Beside that it remembers what it
recommended, to scale down only when nothing more was recommended for five minutes. These are found here in virtual
time and then translated: for one look of the controller, the autoscaler gets the window that reaches back, by the wall
clock, exactly as far as the real window does in virtual time. So the controller judges its own memory, to a tick.

Afterwards the autoscaler keeps a ``build_behavior`` that says what holds without one: without it, the controller would
go
back up to what it remembers of the last five minutes by the wall clock. It lasts as long as the autoscaler, which is
the trial's.

Rules of an autoscaler's own ``build_behavior`` would have to be translated at every look; with one, a world says that
it
needs the wall clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from scenario_kit.errors import NotFound
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.settle.hpa_pacing import KIND, Looks
from scenario_kit.lab.settle.settled import Reason
from scenario_kit.lab.settle.settled.settle_context import find_condition
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster

#: The controller's own default, in seconds.
WINDOW: Final = 300
_STABILISED = "ScaleDownStabilized"
#: Growth as without a behavior: to the double, or by four. The shortest period that there is; a tick may be shorter.
_PERIOD_SECONDS = 1
_GROWTH = [
    {"type": "Percent", "value": 100, "periodSeconds": _PERIOD_SECONDS},
    {"type": "Pods", "value": 4, "periodSeconds": _PERIOD_SECONDS},
]
#: The window must end before the controller has recorded what came next; it takes a moment to look.
_EARLY_SECONDS = 0.02
#: How long (wall) the controller may take to hear of a change.
_NEWS_SECONDS = 5.0


class TickMemory:
    """When each tick was told by the wall clock, and since when (in virtual time) each autoscaler holds back."""

    def __init__(self) -> None:
        self._reported: list[tuple[float, float]] = []
        self._since: dict[str, float] = {}

    def reported(self, tick: float, wall: float) -> None:
        """Record that the metrics of ``tick`` were told at ``wall`` (monotonic seconds)."""
        self._reported = [*(each for each in self._reported if each[0] > tick - 2 * WINDOW), (tick, wall)]

    def overdue(self, autoscalers: Iterable[Object], tick: float) -> list[Object]:
        """Return the autoscalers that have held back for a whole window; call at every tick."""
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

    def window(self, tick: float, wall: float) -> tuple[int, float]:
        """Return how many whole seconds the window has by the wall clock, and when to look so that it fits exactly."""
        first = next((at for reported, at in self._reported if reported > tick - WINDOW), wall)
        seconds = max(1, math.ceil(wall - first))
        return seconds, first + seconds - _EARLY_SECONDS


class Autoscalers:
    """The autoscalers of one world in virtual time. Used by one thread at a time."""

    def __init__(self, store: ObjectStore, looks: Looks, cluster: Cluster, namespaces: Sequence[str]) -> None:
        self._store = store
        self._looks = looks
        self._cluster = cluster
        self._namespaces = namespaces
        self._memory = TickMemory()

    def published(self, tick: float) -> None:
        """Answer those that wait for the metrics of a tick, which are there now."""
        self._memory.reported(tick, time.monotonic())
        self._looks.published()

    def any(self) -> bool:
        """Check whether there is one at all."""
        return any(self._store.names(namespace, KIND) for namespace in self._namespaces)

    def finished(self, seconds: float) -> list[Reason]:
        """Wait up to ``seconds`` (wall) for the controller; why it is not to be waited for, or has not finished."""
        deadline = time.monotonic() + seconds
        reasons = [_needs_wall(hpa) for hpa in self._all() if _is_foreign(hpa["spec"].get("behavior"))]
        for namespace in self._namespaces:
            reasons += self._looks.wait(namespace, max(deadline - time.monotonic(), 0.0))
        return reasons

    def let_go(self, tick: float, settle: Callable[[], None], seconds: float) -> None:
        """Let those scale down that have held back for long enough.

        The controller looks four times: as before, with the window (and scales down), once more to write down that it
        has, and with the window that there always is.
        """
        deadline = time.monotonic() + seconds
        for hpa in self._memory.overdue(self._all(), tick):
            namespace = hpa["metadata"]["namespace"]
            window, at = self._memory.window(
                tick, time.monotonic() + _compute_next_look(self._looks, namespace, deadline)
            )
            try:
                if not self._patch(hpa, build_behavior(window)):
                    continue
                self._look(namespace, deadline)
                time.sleep(max(at - time.monotonic(), 0.0))
                self._look(namespace, deadline)
                settle()
                self._look(namespace, deadline)
            finally:
                self._patch(hpa, build_behavior(WINDOW))
            self._look(namespace, deadline)

    def _look(self, namespace: str, deadline: float) -> None:
        self._looks.release(namespace)
        self._looks.wait(namespace, max(deadline - time.monotonic(), 0.0))

    def _patch(self, hpa: Object, rules: Object) -> bool:
        """Change it and wait until that is known here; False when it is gone."""
        meta = hpa["metadata"]
        try:
            after = self._cluster.patch(
                Reference(KIND, meta["name"], meta["namespace"], "autoscaling"), {"spec": {"behavior": rules}}
            )
        except NotFound:
            return False
        version = int(after["metadata"]["resourceVersion"])

        def known() -> bool:
            held = self._store.get(meta["namespace"], KIND, meta["name"])
            return held is None or int(held["metadata"]["resourceVersion"]) >= version

        self._store.wait(known, _NEWS_SECONDS)
        return True

    def _all(self) -> list[Object]:
        return [hpa for namespace in self._namespaces for hpa in self._store.names(namespace, KIND).values()]


def build_behavior(window: int) -> Object:
    """Build what holds without a behavior, but for the window."""
    return {"scaleUp": {"policies": _GROWTH}, "scaleDown": {"stabilizationWindowSeconds": window}}


def _is_foreign(rules: Object | None) -> bool:
    """Check whether an autoscaler has a behavior that is not of our making."""
    policies = ((rules or {}).get("scaleUp") or {}).get("policies") or ()
    return bool(rules) and [policy["periodSeconds"] for policy in policies] != [_PERIOD_SECONDS] * len(_GROWTH)


def _compute_next_look(looks: Looks, namespace: str, deadline: float) -> float:
    """Compute how long it takes the controller to come back after a look."""
    began = time.monotonic()
    looks.release(namespace)
    looks.wait(namespace, max(deadline - began, 0.0))
    return 2 * (time.monotonic() - began)


def _needs_wall(hpa: Object) -> Reason:
    text = "has a behavior of its own, whose times follow the wall clock: this trial needs the wall clock"
    return Reason("NeedsWall", KIND, hpa["metadata"]["name"], text)
