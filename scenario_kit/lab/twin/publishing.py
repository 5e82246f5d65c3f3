"""Records that callers append to the topics of brokers, and those that wait in a connection that is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scenario_kit.lab.twin.arrays import Flags, Floats
from scenario_kit.lab.twin.batches import Draws
from scenario_kit.lab.twin.calls import Calls
from scenario_kit.lab.twin.flags import Active
from scenario_kit.lab.twin.parameters import Physics
from scenario_kit.lab.twin.process import Process, ProcessKey, Unsent
from scenario_kit.lab.twin.shaping import resumes
from scenario_kit.lab.twin.tape import Tape
from scenario_kit.lab.twin.tree import CallNode


class Published(NamedTuple):
    """Records that reach a queue at these times, each one so ``many`` times over."""

    times: Floats
    many: int = 1


class Publishing:
    """``records`` are those of this tick, by broker and topic."""

    def __init__(self, tape: Tape, physics: Physics) -> None:
        self._tape = tape
        self._physics = physics
        self.records: dict[tuple[ProcessKey, str], list[Published]] = {}

    def publish(
        self,
        effects: Sequence[Active],
        broker: Process,
        node: CallNode,
        times: Floats,
        draws: Draws,
        sent: Flags,
    ) -> None:
        """The requests that were ``sent`` append their records at these times, with the copies that flags bring."""
        copies = 1 + int(sum(effect.copies for effect in effects))
        place = (broker.key, node.operation.model.topic)
        self._tape.publish(place, draws, sent, times, copies)
        self.records.setdefault(place, []).append(Published(times, copies))

    def hold(self, calls: Calls, broker: Process) -> None:
        """What is written into a connection over which nothing comes waits in it."""
        calls.caller.unsent.setdefault(calls.node.edge, []).append(Unsent(broker.key, calls.at))

    def release(self, calls: Calls, broker: Process) -> None:
        """The connection works again: what waits in it goes out with the next repetition.

        What a connection held that was given up meanwhile is lost.
        """
        held = calls.caller.unsent.pop(calls.node.edge, ())
        waiting = [unsent for unsent in held if unsent.peer == broker.key]
        if not waiting:
            return
        times = np.concatenate([unsent.times for unsent in waiting])
        now = float(calls.at.min())
        times = np.full(times.size, resumes(float(times.min()), now, self._physics))
        place = (broker.key, calls.node.operation.model.topic)
        self._tape.publish_untold(place, times)
        self.records.setdefault(place, []).append(Published(times))
