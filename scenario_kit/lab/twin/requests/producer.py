"""Records that callers append to topics, and those waiting in a connection.

A cut connection buffers what is written to it. So does one to a slow broker: Kafka handles the requests of a connection
in sequence, and mutes the channel in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.tree import CallNode
from scenario_kit.lab.twin.network.calls import CallBatch
from scenario_kit.lab.twin.network.traffic_shaping import find_next_retransmission
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, compute_sequence
from scenario_kit.lab.twin.numeric.batches import REQUEST, Draws
from scenario_kit.lab.twin.numeric.schedule_change import ScheduleChange
from scenario_kit.lab.twin.process.process import Process, ProcessKey, Unsent
from scenario_kit.lab.twin.runtime.flags import Active
from scenario_kit.lab.twin.traces.span_buffer import SpanBuffer
from scenario_kit.model.twin.definition import TwinConstants

#: Seconds per request from which sequential handling matters.
_SLOW: Final = 0.1


class Published(NamedTuple):
    """Records that reach a topic at these times, each ``many`` times, and the requests that sent them, if known."""

    times: Floats
    many: int = 1
    requests: Floats | None = None

    def reschedule(self, change: ScheduleChange) -> Published:
        """Return the records at the new times of their requests."""
        return self if self.requests is None else self._replace(times=change.apply(self.requests, self.times))


class _Line(NamedTuple):
    """Requests of a connection that have waited since ``arrived``; the previous one is done at ``free_at``."""

    arrived: Floats
    free_at: float


class Publishing:
    """Publish records; ``records`` are those of this tick, by broker and topic."""

    def __init__(self, span_buffer: SpanBuffer, constants: TwinConstants) -> None:
        self._span_buffer = span_buffer
        self._constants = constants
        self.records: dict[tuple[ProcessKey, str], list[Published]] = {}
        self._effects: Mapping[ProcessKey, Sequence[Active]] = {}
        self._start = self._end = 0.0
        self._lines: dict[tuple[ProcessKey, ProcessKey, str], _Line] = {}

    def begin(self, start: float, end: float, effects: Mapping[ProcessKey, Sequence[Active]]) -> None:
        """Start a tick with these effects in each process."""
        self._start, self._end, self._effects = start, end, effects
        self.records = {}

    def publish(
        self, caller: Process, broker: Process, node: CallNode, times: Floats, draws: Draws, sent: Flags
    ) -> None:
        """Publish the records of successfully ``sent`` requests, with the duplicates caused by flags."""
        copies = 1 + int(sum(effect.copies for effect in self._effects.get(caller.key, ())))
        place = (broker.key, node.operation.model.topic)
        each = self._handling(broker, node.operation.name)
        requests = draws.get(REQUEST)
        if each < _SLOW and (caller.key, *place) not in self._lines:
            self._span_buffer.publish(place, draws, sent, times, copies)
            requests = None if requests is None else requests[sent]
        else:
            requests = None
            times = self._in_line((caller.key, *place), np.sort(times - each), each)
            self._span_buffer.publish_untold(place, np.repeat(times, copies))
        self.records.setdefault(place, []).append(Published(times, copies, requests))

    def _handling(self, broker: Process, operation: str) -> float:
        """Return the broker's additional seconds per request."""
        effects = self._effects.get(broker.key, ())
        return sum(e.share * e.delay_seconds for e in effects if e.operation in ("", operation))

    def _in_line(self, connection: tuple[ProcessKey, ProcessKey, str], arrived: Floats, each: float) -> Floats:
        """Return the completion times of requests within this tick; the others wait for the next one."""
        line = self._lines.pop(connection, _Line(np.empty(0), 0.0))
        arrived = np.concatenate([line.arrived, arrived])
        done = compute_sequence(np.maximum(arrived, line.free_at), np.full(arrived.size, each))
        if line.arrived.size:  # a shorter delay now does not let later requests overtake earlier ones
            done = np.maximum(done, self._start)
        now = int(np.searchsorted(done, self._end, side="right"))
        if now < done.size:
            self._lines[connection] = _Line(arrived[now:], float(done[now - 1]) if now else line.free_at)
        return done[:now]

    def hold(self, calls: CallBatch, broker: Process) -> None:
        """Buffer what is written to a connection that transmits nothing."""
        calls.caller.unsent.setdefault(calls.node.edge, []).append(Unsent(broker.key, calls.at))

    def release(self, calls: CallBatch, broker: Process) -> None:
        """Send what is buffered in a connection that works again, at its next retransmission.

        The buffer of a connection that was closed in the meantime is lost.
        """
        held = calls.caller.unsent.pop(calls.node.edge, ())
        waiting = [unsent for unsent in held if unsent.peer == broker.key]
        if not waiting:
            return
        times = np.concatenate([unsent.times for unsent in waiting])
        now = float(calls.at.min())
        times = np.full(times.size, find_next_retransmission(float(times.min()), now, self._constants))
        place = (broker.key, calls.node.operation.model.topic)
        self._span_buffer.publish_untold(place, times)
        self.records.setdefault(place, []).append(Published(times))
