"""Failures of calls: connections that do not come about, and the limits of the caller's patience."""

from __future__ import annotations

import numpy as np

from scenario_kit.lab.twin.network.calls import CallBatch
from scenario_kit.lab.twin.network.connections import LinkKey, find_timeout
from scenario_kit.lab.twin.network.dialling import ConnectionLane
from scenario_kit.lab.twin.network.network_latency import NetworkLatency
from scenario_kit.lab.twin.network.traffic_shaping import CONNECT_SECONDS
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats
from scenario_kit.lab.twin.numeric.batches import PATIENCE, Result
from scenario_kit.lab.twin.numeric.serial_queue import Gate
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.requests.producer import Publishing
from scenario_kit.lab.twin.requests.rejections import Rejections
from scenario_kit.lab.twin.requests.span_recorder import SpanRecorder
from scenario_kit.model.twin.definition import TwinDefinition


class CallFailures:
    """Fails calls. ``hanging`` is the link of the last call that hangs in this tick."""

    def __init__(
        self, parameters: TwinDefinition, latency: NetworkLatency, recorder: SpanRecorder, publishing: Publishing
    ) -> None:
        self._edges = parameters.edges
        self._constants = parameters.constants
        self._latency = latency
        self._recorder = recorder
        self._publishing = publishing
        self._rejections = Rejections()
        self.hanging: LinkKey | None = None

    def begin(self, start: float, end: float, alive: set[str]) -> None:
        """Begin a tick; ``alive`` are the UIDs of the pods of all callers."""
        self.hanging = None
        self._rejections.begin(start, end, alive)

    def find_limit(self, calls: CallBatch) -> float:
        """Return the seconds for which the caller waits for each call; 0 for ever."""
        return calls.node.step.deadline_seconds or find_timeout(self._edges[calls.node.edge], calls.caller)

    def find_end(self, calls: CallBatch) -> Floats | None:
        """Return until when the caller waits for each call; None for ever."""
        limit, until = self.find_limit(calls), calls.draws.get(PATIENCE)
        if not limit:
            return until
        return calls.at + limit if until is None else np.minimum(calls.at + limit, until)

    def _find_dial_limit(self, calls: CallBatch) -> float:
        """Return the seconds after which an attempt to connect fails; 0 for those of the call, negative for never."""
        edge = self._edges[calls.node.edge]
        if edge.connect_timeout_seconds or not edge.connects_per_call or self.find_limit(calls):
            return edge.connect_timeout_seconds
        return CONNECT_SECONDS  # the kernel's

    def fail_connection(self, calls: CallBatch, lane: ConnectionLane) -> Result:
        """Fail calls that find no connection, or whose connection is cut."""
        result = self.fail_dial(calls, lane)
        on_open = lane.outcome == ConnectionOutcome.CONNECTION_TIMEOUT and lane.target is not None
        if self._edges[calls.node.edge].connect_span is None or on_open:
            return result
        return result._replace(unconnected=np.ones(calls.at.size, dtype=bool))

    def fail_dial(self, calls: CallBatch, lane: ConnectionLane) -> Result:
        """Fail dials: the callee is absent or the wrong one, or packets are dropped."""
        at, edge = calls.at, self._edges[calls.node.edge]
        failed: Flags = np.ones(at.size, dtype=bool)
        if lane.outcome == ConnectionOutcome.CONNECTION_TIMEOUT and lane.target is not None and not edge.wait_for_ack:
            self._publishing.hold(calls, lane.target)
            return self.complete_writes(at)
        if lane.outcome == ConnectionOutcome.LOCK_TIMEOUT or (
            lane.unanswered and (edge.connect_timeout_seconds or not edge.unreachable_seconds)
        ):
            return self._hang(calls, lane)
        if lane.rejected and edge.serialize_connects:
            return self._reject_in_turn(calls)
        if lane.rejected and edge.connects_per_call:
            return self._reject_dials(calls)
        took = self._latency.noise(calls) * (edge.refusal_ms / 1000.0) + edge.unreachable_seconds
        if edge.serialize_connects:
            took = calls.caller.gates.setdefault(calls.node.edge, Gate()).enter(took)
        self._recorder.complain(calls, lane.outcome, at + took)
        return Result(took, failed)

    def _hang(self, calls: CallBatch, lane: ConnectionLane) -> Result:
        """Let calls hang until somebody gives up: the resolver, the client library, the kernel, or the caller."""
        at, edge = calls.at, self._edges[calls.node.edge]
        self.hanging = calls.link.key
        if lane.fails_at != np.inf:
            took: Floats = np.maximum(lane.fails_at - at, 0.001)
        else:
            waits = lane.target is None and lane.resolve_seconds > 0.0 and edge.connect_timeout_seconds >= 0.0
            took = np.full(at.size, lane.resolve_seconds if waits else np.inf)
        dials = self._find_dial_limit(calls) if lane.target is None else 0.0
        if dials > 0.0:
            took = np.minimum(took, dials)
            self._recorder.complain(calls, lane.outcome, at + took)
        failed: Flags = np.isfinite(took)
        if dials:
            return Result(took, failed)
        if lane.target is None and lane.outcome != ConnectionOutcome.LOCK_TIMEOUT:
            self._say_unanswered(calls, lane.outcome, took)
        return self.give_up(calls, took, failed)

    def _reject_dials(self, calls: CallBatch) -> Result:
        """Fail dials of a Service without endpoints: the kernel rejects few of many (see ``rejections``)."""
        at, edge, caller = calls.at, self._edges[calls.node.edge], calls.caller
        limit = self.find_limit(calls) or np.inf
        dials = edge.connect_timeout_seconds if edge.connect_timeout_seconds > 0.0 else CONNECT_SECONDS
        delays = self._rejections.delays(caller.key.pod_uid, calls.node.key, at, min(limit, dials))
        answered = np.isfinite(delays)
        quick = self._latency.noise(calls) * (edge.refusal_ms / 1000.0) + edge.unreachable_seconds
        took = np.where(answered, np.where(answered, delays, 0.0) + quick, min(limit, dials))
        self._recorder.complain(calls, ConnectionOutcome.CONNECTION_REFUSED, (at + took)[answered])
        self._recorder.complain(
            calls,
            ConnectionOutcome.DEADLINE_EXCEEDED if limit < dials else ConnectionOutcome.CONNECTION_TIMEOUT,
            (at + took)[~answered],
        )
        return Result(took, np.ones(at.size, dtype=bool))

    def _reject_in_turn(self, calls: CallBatch) -> Result:
        """Fail calls that attempt to connect to a Service without endpoints one after another."""
        edge, caller, number = self._edges[calls.node.edge], calls.caller, calls.node.edge
        each = edge.connect_timeout_seconds if edge.connect_timeout_seconds > 0.0 else CONNECT_SECONDS
        held = self._rejections.hold(caller.key.pod_uid, number, calls.at, edge.connect_attempts, each)
        took = held + self._latency.noise(calls) * (edge.refusal_ms / 1000.0) + edge.unreachable_seconds
        took = caller.gates.setdefault(number, Gate()).enter(took)
        self._recorder.complain(calls, ConnectionOutcome.CONNECTION_REFUSED, calls.at + took)
        return Result(took, np.ones(took.size, dtype=bool))

    def _say_unanswered(self, calls: CallBatch, outcome: ConnectionOutcome, took: Floats) -> None:
        """Log failed connections of callers that had not given up before."""
        limit = self.find_limit(calls)
        logged = took <= limit if limit else np.isfinite(took)
        self._recorder.complain(calls, outcome, (calls.at + took)[logged])

    def give_up(self, calls: CallBatch, took: Floats, failed: Flags) -> Result:
        """End calls at the caller's timeout or deadline."""
        limit = self.find_limit(calls)
        if limit:
            late = took > limit
            if late.any():
                took = np.where(late, limit, took)
                failed = failed | late
                self._recorder.complain(calls, ConnectionOutcome.DEADLINE_EXCEEDED, (calls.at + took)[late])
        until = calls.draws.get(PATIENCE)
        if until is not None:
            late = calls.at + took > until
            if late.any():
                took = np.where(late, np.maximum(until - calls.at, 0.0), took)
                failed = failed | late
                self._recorder.complain(calls, ConnectionOutcome.CALL_CANCELED, (calls.at + took)[late])
        return Result(took, failed)

    def complete_writes(self, at: Floats) -> Result:
        """Complete one-way writes once the kernel has accepted them."""
        return Result(np.full(at.size, self._constants.hop_ms / 1000.0), np.zeros(at.size, dtype=bool))
