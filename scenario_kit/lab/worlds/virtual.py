"""A world whose time moves only while somebody waits for it, as fast as the cluster settles."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from scenario_kit.lab.settle.deadlines import ProgressDeadlines, move_back
from scenario_kit.lab.settle.settled import Reason
from scenario_kit.lab.twin import Telemetry
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds.hpa_sync import Autoscalers
from scenario_kit.lab.worlds.world import TICK_SECONDS, LabWorld, Surroundings, Waited, find_grid_from
from scenario_kit.model.runtime.process import SeriesId

#: Ticks that are written together while a wait goes on.
_BATCH = 40
#: Wall seconds that what the kubelet said may take to be written, where no more time was given.
_REPORT_SECONDS = 5.0


class _StillMoving(Exception):
    """The cluster has not settled in time."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__("; ".join(map(str, reasons)))


class VirtualWorld(LabWorld):
    """Starts at the lab's epoch, or after an earlier world of its namespace, and moves on a grid of ticks.

    At every tick: the clock is set, the kubelet does what is due, the cluster settles, requests flow, processes that
    ended are noticed and the cluster settles again; then the samples of the tick are taken. What the kubelet has to do
    between two ticks happens in the second that it is due, so that container restarts keep their order.
    """

    def __init__(self, spec: WorldSpec, around: Surroundings) -> None:
        super().__init__(spec, around)
        self._turn = threading.Lock()
        self._start = max(around.past.start_of(namespace, float(around.epoch)) for namespace in spec.everywhere)
        self._now = self._ticked = self._stored = self._start
        self._sink = around.sink_of()
        self._flowed: Telemetry | None = None
        self._buffer: list[tuple[float, Mapping[SeriesId, float]]] = []
        self._deadlines = ProgressDeadlines()
        self._autoscalers = Autoscalers(around.store, around.looks, around.cluster, spec.everywhere)
        self._scaled = self._start
        self._overdue: frozenset[str] = frozenset()
        self._closed = False

    @property
    def now(self) -> float:
        """The time of this world, in seconds since the epoch."""
        return self._now

    @property
    def stored(self) -> float:
        """See ``LabWorld``."""
        return self._stored

    def wait(self, until: float, *, stride: float | None, seconds: float, go_on: Callable[[], bool]) -> Waited:
        """Settle, then let time pass up to the first tick at or after ``until``.

        Returns early, with the time reached, after about ``seconds`` of wall time, after ``stride`` seconds of this
        world's time, when ``go_on`` says no, or when the cluster does not settle. When it returns, everything sampled
        so far is in Prometheus, and what the kubelet said can be read.

        Raises:
            InfrastructureError: API server or Prometheus failed. The wait may be repeated and goes on from there.
        """
        with self._turn:
            if self._closed:
                return Waited(self._now, False, "the world was closed")
            deadline = time.monotonic() + seconds
            target = find_grid_from(until if stride is None else min(until, self._now + stride))
            reason = ""
            try:
                self._settle(deadline, go_on, sure=True)
                while self._ticked < target and time.monotonic() < deadline and go_on():
                    self._advance(deadline, go_on)
            except _StillMoving as moving:
                reason = str(moving)
            self._flush()
            if not reason and not self.reported(max(deadline - time.monotonic(), _REPORT_SECONDS)):
                reason = "events of the kubelet are not written yet"
            return Waited(self._now, not reason, reason)

    def close(self) -> None:
        """End all series, one tick after the last sample, and give the namespace back."""
        with self._turn:
            if self._closed:
                return
            self._flush()
            if self._ticked > self._start:
                self._sink.write([(self._ticked + TICK_SECONDS, {})])
            self._sink.close()
            self._closed = True
            super().close()

    def _advance(self, deadline: float, go_on: Callable[[], bool]) -> None:
        """Advance by one tick. Interrupted at any point, it is taken up again there."""
        end = self._ticked + TICK_SECONDS
        if self._flowed is None:
            self._scale(deadline, go_on)
            self._run_up_to(end, deadline, go_on)
            self._now = end
            self._settle(deadline, go_on)
            self._meet_deadlines(deadline, go_on)
            self._flowed = self.pass_tick(end)
        if self._flowed.exits:
            self._settle(deadline, go_on)
        self.record(end)
        self._buffer.append((end, self.samples(self._flowed, end)))
        self._flowed = None
        self._ticked = end
        self._autoscalers.published(end)
        if len(self._buffer) >= _BATCH:
            self._flush()

    def _scale(self, deadline: float, go_on: Callable[[], bool]) -> None:
        """Let the controller of autoscalers conclude what follows from the last tick."""
        if self._scaled == self._ticked or not self._autoscalers.any():
            return
        reasons = self._autoscalers.finished(max(deadline - time.monotonic(), 0.0))
        if reasons:
            raise _StillMoving(reasons)
        self._settle(deadline, go_on, sure=True)
        settle = partial(self._settle, deadline, go_on, sure=True)
        self._autoscalers.let_go(self._ticked, settle, max(deadline - time.monotonic(), 0.0))
        self._settle(deadline, go_on, sure=True)
        self._scaled = self._ticked

    def _run_up_to(self, end: float, deadline: float, go_on: Callable[[], bool]) -> None:
        """Run what the kubelet has to do before ``end``, second by second: settling after each single thing is too
        slow.
        """
        ran = False
        while (due := self.next_wakeup()) is not None and due < end:
            if ran and due <= self._now:
                return  # it was asked at this very time and wants to be asked again: later will do
            self._now = max(self._now, min(math.ceil(due), end))
            self._settle(deadline, go_on)
            ran = True

    def _meet_deadlines(self, deadline: float, go_on: Callable[[], bool]) -> None:
        overdue = self._deadlines.overdue(self.view().everywhere("Deployment"), self._now)
        if not overdue:
            return
        for deployment in overdue:
            move_back(self._around.cluster, deployment)
        self._settle(deadline, go_on, overdue=frozenset(d["metadata"]["name"] for d in overdue))

    def _settle(
        self,
        deadline: float,
        go_on: Callable[[], bool],
        *,
        sure: bool = False,
        overdue: frozenset[str] = frozenset(),
    ) -> None:
        """Settle, or raise. Unless it has to be ``sure``, namespaces in which nothing was seen to move are settled."""
        if not sure and not overdue and self.still() and self.run_nodes() == 0:
            return
        reasons = self.settle(max(deadline - time.monotonic(), 0.0), go_on, overdue)
        if reasons:
            raise _StillMoving(reasons)

    def _flush(self) -> None:
        if self._buffer:
            for namespace in self.spec.everywhere:
                self._around.past.reached(namespace, self._buffer[-1][0])
            self._sink.write(self._buffer)
            self._stored = self._buffer[-1][0]
            self._buffer = []
