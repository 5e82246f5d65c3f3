"""Queues: how long those wait who come to something that does one thing after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scenario_kit.lab.twin.numeric.arrays import Floats

#: A queue grows or shrinks in one step by about this many seconds and half its length; the longest one.
_SETTLING: Final = 1.0
_LONGEST: Final = 60.0


def compute_wait(waiting: float, load: float, dt: float) -> float:
    """Compute seconds for which a request waits for its turn after ``dt`` more seconds at this share of what can be
    done.

    Beyond ρ = 1 work is left over, and who comes next waits for it: a fluid queue, which grows by ρ - 1 a second. It is
    damped, since those who wait ask for nothing meanwhile, which shows only ticks later: undamped it would swing for
    ever. Whoever would wait longer than a minute has gone.
    """
    gain = dt / (1.0 + dt / (_SETTLING + waiting / 2.0))
    return min(max(waiting + (load - 1.0) * gain, 0.0), _LONGEST)


@dataclass(slots=True)
class Gate:
    """Attempts to connect that pass one after another (``Edge.serialize_connects``), as under a lock.

    ``wait`` is how long one waits in this tick, ``demand`` are the seconds that the attempts of this tick take.
    """

    wait: float = 0.0
    demand: float = 0.0

    def enter(self, took: Floats) -> Floats:
        """Return how long attempts take that would take so long if they met no other."""
        self.demand += float(took.sum())
        return took + self.wait

    def close(self, dt: float) -> None:
        """Close the tick."""
        self.wait = compute_wait(self.wait, self.demand / dt, dt)
        self.demand = 0.0
