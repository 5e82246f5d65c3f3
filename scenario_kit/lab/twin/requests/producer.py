"""Records that callers append to the topics of brokers, and those that wait in a connection.

A connection that is cut holds what is written into it. So does one whose broker takes long for a request: it handles
those of a connection one after another, and does not read the next one before (Kafka mutes the channel meanwhile).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.tree import CallNode
from scenario_kit.lab.twin.network.calls import CallBatch
from scenario_kit.lab.twin.network.traffic_shaping import find_next_retransmission
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, compute_sequence
from scenario_kit.lab.twin.numeric.batches import Draws
from scenario_kit.lab.twin.process.process import Process, ProcessKey, Unsent
from scenario_kit.lab.twin.runtime.flags import Active
from scenario_kit.lab.twin.traces.span_buffer import Tape
from scenario_kit.model.twin.definition import Physics

#: Seconds for a request from which on it matters that a connection's are handled one after another.
_SLOW: Final = 0.1


class Published(NamedTuple):
    """Records that reach a queue at these times, each one so ``many`` times over."""

    times: Floats
    many: int = 1


class _Line(NamedTuple):
    """Requests of one connection that wait for their turn since ``arrived``; the one before is done at ``free_at``."""

    arrived: Floats
    free_at: float


class Publishing:
    """``records`` are those of this tick, by broker and topic."""

    def __init__(self, tape: Tape, physics: Physics) -> None:
        self._tape = tape
        self._physics = physics
        self.records: dict[tuple[ProcessKey, str], list[Published]] = {}
        self._effects: Mapping[ProcessKey, Sequence[Active]] = {}
        self._start = self._end = 0.0
        self._lines: dict[tuple[ProcessKey, ProcessKey, str], _Line] = {}

    def begin(self, start: float, end: float, effects: Mapping[ProcessKey, Sequence[Active]]) -> None:
        """Begin a tick with these effects in each process."""
        self._start, self._end, self._effects = start, end, effects
        self.records = {}

    def publish(
        self, caller: Process, broker: Process, node: CallNode, times: Floats, draws: Draws, sent: Flags
    ) -> None:
        """Publish the requests that were ``sent`` append their records at these times, with the copies that flags
        bring.
        """
        copies = 1 + int(sum(effect.copies for effect in self._effects.get(caller.key, ())))
        place = (broker.key, node.operation.model.topic)
        each = self._handling(broker, node.operation.name)
        if each < _SLOW and (caller.key, *place) not in self._lines:
            self._tape.publish(place, draws, sent, times, copies)
        else:
            times = self._in_line((caller.key, *place), np.sort(times - each), each)
            self._tape.publish_untold(place, np.repeat(times, copies))
        self.records.setdefault(place, []).append(Published(times, copies))

    def _handling(self, broker: Process, operation: str) -> float:
        """Return seconds that the broker takes for a request beyond what it always takes."""
        effects = self._effects.get(broker.key, ())
        return sum(e.share * e.delay_seconds for e in effects if e.operation in ("", operation))

    def _in_line(self, connection: tuple[ProcessKey, ProcessKey, str], arrived: Floats, each: float) -> Floats:
        """Return when the requests are handled that are within this tick; the others wait for the next one."""
        line = self._lines.pop(connection, _Line(np.empty(0), 0.0))
        arrived = np.concatenate([line.arrived, arrived])
        done = compute_sequence(np.maximum(arrived, line.free_at), np.full(arrived.size, each))
        if line.arrived.size:  # who waited from before is not done before, whatever became of the delay
            done = np.maximum(done, self._start)
        now = int(np.searchsorted(done, self._end, side="right"))
        if now < done.size:
            self._lines[connection] = _Line(arrived[now:], float(done[now - 1]) if now else line.free_at)
        return done[:now]

    def hold(self, calls: CallBatch, broker: Process) -> None:
        """Hold what is written into a connection over which nothing comes: it waits in it."""
        calls.caller.unsent.setdefault(calls.node.edge, []).append(Unsent(broker.key, calls.at))

    def release(self, calls: CallBatch, broker: Process) -> None:
        """Release a connection that works again: what waits in it goes out with the next repetition.

        What a connection held that was given up meanwhile is lost.
        """
        held = calls.caller.unsent.pop(calls.node.edge, ())
        waiting = [unsent for unsent in held if unsent.peer == broker.key]
        if not waiting:
            return
        times = np.concatenate([unsent.times for unsent in waiting])
        now = float(calls.at.min())
        times = np.full(times.size, find_next_retransmission(float(times.min()), now, self._physics))
        place = (broker.key, calls.node.operation.model.topic)
        self._tape.publish_untold(place, times)
        self.records.setdefault(place, []).append(Published(times))
