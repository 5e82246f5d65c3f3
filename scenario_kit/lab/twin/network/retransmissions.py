"""Lost messages that are still to be sent again, and what changes when the path changes meanwhile.

When a message is lost, its wait is planned as if the path stayed as it is. Each later transmission meets the path of
its own tick: the same random number decides, as the share of messages that are lost at least as often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from scenario_kit.lab.twin.network.connections import Link, LinkKey
from scenario_kit.lab.twin.network.traffic_shaping import count_losses, find_loss, list_waits
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, Ints
from scenario_kit.lab.twin.numeric.schedule_change import ScheduleChange, Waits
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.model.twin.definition import TwinConstants

#: In place of no loss, by which nothing can be divided.
_LEAST: Final = 1e-12


class Path(NamedTuple):
    """The path of messages: over a link to one peer, or ``back``."""

    link: LinkKey
    peer: ProcessKey
    back: bool


@dataclass(slots=True)
class _Lost:
    """Lost messages on one path, by request.

    ``draws`` are the random numbers that decide over the transmissions after those ``made``; ``loss`` is the path's.
    """

    constants: TwinConstants
    loss: float
    requests: Floats = field(default_factory=lambda: np.zeros(0))
    began: Floats = field(default_factory=lambda: np.zeros(0))
    ends: Floats = field(default_factory=lambda: np.zeros(0))
    draws: Floats = field(default_factory=lambda: np.zeros(0))
    made: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def keep(self, which: Flags) -> None:
        """Forget other messages."""
        self.requests, self.began, self.ends = self.requests[which], self.began[which], self.ends[which]
        self.draws, self.made = self.draws[which], self.made[which]

    def transmit(self, now: float) -> None:
        """Count the transmissions made by ``now``; all of them were lost."""
        made = np.searchsorted(list_waits(self.constants), now - self.began, side="right")
        self.draws = np.minimum(self.draws / max(self.loss, _LEAST) ** (made - self.made), 1.0)
        self.made = made

    def measure(self) -> Floats:
        """Return how long each message waits in all if the path stays as it is."""
        waits = list_waits(self.constants)
        lost = self.made + count_losses(self.draws, self.loss, self.constants.retransmissions)
        return np.asarray(waits[np.minimum(lost, waits.size - 1)])


class Retransmissions:
    """The lost messages of a world whose waits outlast the tick in which they began."""

    def __init__(self) -> None:
        self._lost: dict[tuple[Path, TwinConstants], _Lost] = {}
        self._end = 0.0

    def begin(self, end: float) -> None:
        """Begin the tick up to ``end``."""
        self._end = end

    def add(
        self, path: Path, requests: Floats, began: Floats, draws: Floats, loss: float, constants: TwinConstants
    ) -> None:
        """Add messages of requests that are sent at ``began``, if they are lost and wait beyond the tick."""
        lost = count_losses(draws, loss, constants.retransmissions)
        ends = began + list_waits(constants)[lost]
        late = (lost > 0) & (ends > self._end)
        if not late.any():
            return
        group = self._lost.setdefault((path, constants), _Lost(constants, loss))
        group.requests = np.concatenate([group.requests, requests[late]])
        group.began = np.concatenate([group.began, began[late]])
        group.ends = np.concatenate([group.ends, ends[late]])
        group.draws = np.concatenate([group.draws, draws[late]])
        group.made = np.concatenate([group.made, np.zeros(np.count_nonzero(late), dtype=np.int64)])

    def replan(
        self, links: Mapping[LinkKey, Link], processes: Mapping[ProcessKey, Process], start: float
    ) -> ScheduleChange | None:
        """Let the transmissions after ``start`` meet the paths as they are now; None if no path has changed."""
        changed = False
        for key, group in list(self._lost.items()):
            group.keep(group.ends > start)
            caller = processes.get(key[0].link.process)
            if caller is None or not group.requests.size:
                del self._lost[key]
                continue
            loss = _measure_loss(key[0], links.get(key[0].link), caller)
            if loss != group.loss:
                group.transmit(start)
                group.loss, changed = loss, True
        if not changed:
            return None
        groups = list(self._lost.values())
        for group in groups:
            group.transmit(start)
        columns = ((group.requests, group.began, group.ends, group.measure()) for group in groups)
        change = ScheduleChange(Waits(*(np.concatenate(parts) for parts in zip(*columns, strict=True))))
        first = 0
        for group in groups:
            last = first + group.requests.size
            group.began, group.ends = change.began[first:last], change.ends[first:last]
            first = last
        return change


def _measure_loss(path: Path, link: Link | None, caller: Process) -> float:
    """Return the share of messages that are lost on a path by now; none on one that has ended, as its end answers."""
    lanes = (*link.lanes, *link.old) if link is not None else ()
    lane = next((lane for lane in lanes if lane.target is not None and lane.target.key == path.peer), None)
    if lane is None:
        return float(any(each.outcome == ConnectionOutcome.CONNECTION_TIMEOUT for each in lanes))
    if lane.wire is None:
        return 0.0
    if lane.wire.cut:
        return 1.0
    sender = lane.target if path.back else caller
    return find_loss(lane.wire.back if path.back else lane.wire.out, sender.bucket) if sender is not None else 0.0
