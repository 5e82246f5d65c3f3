"""Responses delivered to the longest waiting call instead of the one they belong to (``Edge.shared_answers``).

A producer that delivers successes and failures over two channels behaves like this if each call reads from both, and
another goroutine reads the failures, too: each failure consumed by the other reader is lost, and from then on every
call waits for the response of a later one, even after the failures stop. The other reader queues like every call: after
a failure it is last, so it gets the first failure, then the third, the sixth, the tenth …
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.lab.twin.numeric.batches import Result

_SMOOTHING = 0.5
_LONGEST = 3600.0


@dataclass(slots=True)
class Turns:
    """The waiting calls of one process. ``waiting`` have no response; ``ahead`` are those before the other reader."""

    waiting: int = 0
    ahead: int = 0
    rate: float = 0.0
    count: int = 0
    since: float = 0.0

    def hand_out(self, at: Floats, result: Result, start: float, end: float) -> Result:
        """Return the results of calls at the times ``at`` of the tick, given those with a response of their own.

        A response that depends on a later call is expected at the rate of the last ticks.
        """
        self._pace(at.size, start, end)
        answers = at + result.took
        order = np.argsort(answers, kind="stable")
        before = self.waiting
        given = [int(number) for number in order if self._reaches(bool(result.failed[number]))]
        took, failed = result.took.copy(), result.failed.copy()
        for place, number in enumerate(np.argsort(at, kind="stable")):
            missing = before + place - len(given)
            if missing < 0:
                answer = given[before + place]
                took[number], failed[number] = max(answers[answer] - at[number], 0.0), result.failed[answer]
            else:
                later = min((missing + 1) / self.rate, _LONGEST)
                took[number] = max(float(answers.max()) - at[number], 0.0) + later
        return Result(took, failed)

    def _reaches(self, failed: bool) -> bool:
        """Return whether a response reaches a call; the other reader gets failures only."""
        if not failed or self.ahead:
            self.ahead = max(self.ahead - 1, 0)
            return True
        self.waiting += 1
        self.ahead = self.waiting
        return False

    def _pace(self, calls: int, start: float, end: float) -> None:
        """Update the rate of calls per second."""
        if start > self.since:
            past = self.count / (start - self.since)
            self.rate += (_SMOOTHING if self.rate else 1.0) * (past - self.rate)
            self.count, self.since = 0, start
        self.count += calls
        self.rate = self.rate or self.count / (end - start)
