"""New times of requests whose waits end sooner or later than was planned when they began."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Flags, Floats

#: The tolerance for sums of times in different orders, in seconds.
_CLOSE: Final = 1e-6


class Waits(NamedTuple):
    """Waits of requests: when each began, was planned to end, and how long it takes by now."""

    requests: Floats
    began: Floats
    ends: Floats
    seconds: Floats


class ScheduleChange:
    """A map from planned to new times, by request.

    What follows a wait follows its new end after the same time. Of waits beside each other, the last one counts.
    ``began`` and ``ends`` are the new times of the waits, in their order.
    """

    def __init__(self, waits: Waits) -> None:
        order = np.lexsort((waits.ends, waits.requests))
        requests = waits.requests[order]
        self._requests, first = np.unique(requests, return_index=True)
        rank = np.arange(order.size) - np.repeat(first, np.diff(np.append(first, order.size)))
        self._steps: list[tuple[Floats, Floats]] = []
        self.began, self.ends = waits.began.copy(), waits.ends.copy()
        previous = np.full(self._requests.size, -np.inf)
        for number in range(int(rank.max(initial=-1)) + 1):
            which = order[rank == number]
            place = np.searchsorted(self._requests, waits.requests[which])
            self.began[which] = self.apply(waits.requests[which], waits.began[which])
            self.ends[which] = self.began[which] + waits.seconds[which]
            planned, new = np.full(previous.size, np.inf), np.zeros(previous.size)
            planned[place] = waits.ends[which]
            new[place] = previous[place] = np.maximum(self.ends[which], previous[place])
            self._steps.append((planned, new))

    def apply(self, requests: Floats, times: Floats) -> Floats:
        """Return the new times of what requests were planned to do at these times; -1 stands for no request."""
        result = times.copy()
        if not self._requests.size or not times.size:
            return result
        place = np.minimum(np.searchsorted(self._requests, requests), self._requests.size - 1)
        known: Flags = self._requests[place] == requests
        if not known.any():
            return result
        for planned, new in self._steps:
            before = planned[place]
            moved = known & (times >= before - _CLOSE)
            result[moved] = new[place[moved]] + (times[moved] - before[moved])
        return result
