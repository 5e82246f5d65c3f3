"""A world in virtual time: its clock advances only during a wait, as fast as the cluster settles."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from scenario_kit.lab.settle.chaos_timers import ChaosTimers
from scenario_kit.lab.settle.checks import Reason
from scenario_kit.lab.settle.checks.chaos import affects_namespace
from scenario_kit.lab.settle.deadlines import ProgressDeadlines, backdate_progress
from scenario_kit.lab.twin import Telemetry
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds.hpa_sync import Autoscalers
from scenario_kit.lab.worlds.world import TICK_SECONDS, LabContext, LabWorld, WaitResult, find_grid_from
from scenario_kit.model import Object
from scenario_kit.model.runtime.process import SeriesId

#: Ticks per write to Prometheus during a wait.
_BATCH = 40
#: A chaos manager writes down its starts within this long (wall clock), or gave up after conflicts.
_RECORD_SECONDS = 10.0
#: Minimum wall seconds allowed for writing the kubelet's events and logs.
_REPORT_SECONDS = 5.0


class _NotSettled(Exception):
    """The cluster did not settle in time."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__("; ".join(map(str, reasons)))


class VirtualWorld(LabWorld):
    """A world that starts at the lab's epoch, or after an earlier world of its namespace, and advances tick by tick.

    A tick: set the clock, run the kubelet, settle the cluster, simulate requests, handle exited processes, settle
    again, take samples. Kubelet work that is due between two ticks runs in its own second, which preserves the order
    of container restarts.
    """

    def __init__(self, spec: WorldSpec, lab: LabContext) -> None:
        super().__init__(spec, lab)
        self._turn = threading.Lock()
        self._start = max(
            lab.sample_horizon.compute_start(namespace, float(lab.epoch)) for namespace in spec.namespaces
        )
        self._now = self._ticked = self._stored = self._start
        self._sink = lab.sink_of()
        self._telemetry: Telemetry | None = None
        self._buffer: list[tuple[float, Mapping[SeriesId, float]]] = []
        self._deadlines = ProgressDeadlines()
        self._autoscalers = Autoscalers(lab.store, lab.metrics_gate, lab.cluster, spec.namespaces)
        self._scaled = self._start
        self._timers = ChaosTimers(lab.set_chaos_base)
        self._closed = False

    @property
    def now(self) -> float:
        """The time of this world, in seconds since the epoch."""
        return self._now

    @property
    def stored(self) -> float:
        """See ``LabWorld``."""
        return self._stored

    def wait(
        self, until: float, *, stride: float | None, seconds: float, should_continue: Callable[[], bool]
    ) -> WaitResult:
        """Settle, then advance to the first tick at or after ``until``.

        Returns early after about ``seconds`` of wall time, after ``stride`` seconds of virtual time, if
        ``should_continue`` returns False, or if the cluster does not settle. On return, all samples so far are in
        Prometheus and the kubelet's events and logs can be read.

        Raises:
            InfrastructureError: the API server or Prometheus failed. Repeat the wait to continue.
        """
        with self._turn:
            if self._closed:
                return WaitResult(self._now, False, "the world was closed")
            deadline = time.monotonic() + seconds
            target = find_grid_from(until if stride is None else min(until, self._now + stride))
            reason = ""
            try:
                self._settle(deadline, should_continue, force=True)
                while self._ticked < target and time.monotonic() < deadline and should_continue():
                    self._advance(deadline, should_continue)
            except _NotSettled as moving:
                reason = str(moving)
            self._flush()
            if not reason and not self.flush_nodes(max(deadline - time.monotonic(), _REPORT_SECONDS)):
                reason = "the kubelet's events are not written yet"
            return WaitResult(self._now, not reason, reason)

    def close(self) -> None:
        """End all series one tick after the last sample, and release the namespaces."""
        with self._turn:
            if self._closed:
                return
            self._flush()
            if self._ticked > self._start:
                self._sink.write([(self._ticked + TICK_SECONDS, {})])
            self._sink.close()
            self._closed = True
            super().close()

    def _advance(self, deadline: float, should_continue: Callable[[], bool]) -> None:
        """Advance by one tick; resumes where an earlier call was interrupted."""
        end = self._ticked + TICK_SECONDS
        if self._telemetry is None:
            self._scale(deadline, should_continue)
            self._expire_timers(end, deadline, should_continue)
            self._run_up_to(end, deadline, should_continue)
            self._now = end
            self._settle(deadline, should_continue)
            self._meet_deadlines(deadline, should_continue)
            self._telemetry = self.run_tick(end)
        if self._telemetry.exits:
            self._settle(deadline, should_continue)
        self.record(end)
        self._buffer.append((end, self.samples(self._telemetry, end)))
        self._telemetry = None
        self._ticked = end
        self._autoscalers.release_metrics(end)
        if len(self._buffer) >= _BATCH:
            self._flush()

    def _scale(self, deadline: float, should_continue: Callable[[], bool]) -> None:
        """Let the HPA controller act on the metrics of the last tick."""
        if self._scaled == self._ticked or not self._autoscalers.has_any():
            return
        reasons = self._autoscalers.await_controller(max(deadline - time.monotonic(), 0.0))
        if reasons:
            raise _NotSettled(reasons)
        self._settle(deadline, should_continue, force=True)
        settle = partial(self._settle, deadline, should_continue, force=True)
        self._autoscalers.scale_down_overdue(self._ticked, settle, max(deadline - time.monotonic(), 0.0))
        self._settle(deadline, should_continue, force=True)
        self._scaled = self._ticked

    def renew_timers(self) -> None:
        """Keep the chaos manager from acting by the wall clock on what is not due in this world."""
        self._timers.observe(self._list_experiments(), self._now)
        self._timers.renew(time.time())

    def _expire_timers(self, end: float, deadline: float, should_continue: Callable[[], bool]) -> None:
        """Let the chaos manager start and end the experiments that are due before ``end``."""
        self._timers.observe(self._list_experiments(), self._ticked)
        if self._timers.expire(end, time.time()):
            self._settle(deadline, should_continue, force=True)
            self._lab.store.wait(self._has_recorded_starts, _RECORD_SECONDS)
            self._timers.restart(time.time())

    def _has_recorded_starts(self) -> bool:
        self._timers.observe(self._list_experiments(), self._ticked)
        return not self._timers.has_unrecorded_start(time.time())

    def _list_experiments(self) -> list[Object]:
        found = self._lab.store.experiments()
        return [obj for obj in found if any(affects_namespace(obj, name) for name in self.spec.namespaces)]

    def _run_up_to(self, end: float, deadline: float, should_continue: Callable[[], bool]) -> None:
        """Run the kubelet's work due before ``end``, second by second; settling after each item is too slow."""
        ran = False
        while (due := self.next_wakeup()) is not None and due < end:
            if ran and due <= self._now:
                return  # due again at this very time: defer
            self._now = max(self._now, min(math.ceil(due), end))
            self._settle(deadline, should_continue)
            ran = True

    def _meet_deadlines(self, deadline: float, should_continue: Callable[[], bool]) -> None:
        overdue = self._deadlines.list_overdue(self.view().list_all("Deployment"), self._now)
        if not overdue:
            return
        for deployment in overdue:
            backdate_progress(self._lab.cluster, deployment)
        self._settle(deadline, should_continue, overdue=frozenset(d["metadata"]["name"] for d in overdue))

    def _settle(
        self,
        deadline: float,
        should_continue: Callable[[], bool],
        *,
        force: bool = False,
        overdue: frozenset[str] = frozenset(),
    ) -> None:
        """Settle, or raise. Unless ``force``, a namespace without observed changes counts as settled."""
        if not force and not overdue and self.is_unchanged() and self.run_nodes() == 0:
            return
        reasons = self.settle(max(deadline - time.monotonic(), 0.0), should_continue, overdue)
        if reasons:
            raise _NotSettled(reasons)

    def _flush(self) -> None:
        if self._buffer:
            for namespace in self.spec.namespaces:
                self._lab.sample_horizon.record(namespace, self._buffer[-1][0])
            self._sink.write(self._buffer)
            self._stored = self._buffer[-1][0]
            self._buffer = []
