"""Waiting times in front of a resource that handles one request at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scenario_kit.lab.twin.numeric.arrays import Floats

#: A step changes the queue by at most about this many seconds plus half its length; the maximum length.
_SETTLING: Final = 1.0
_LONGEST: Final = 60.0


def compute_wait(waiting: float, load: float, dt: float) -> float:
    """Compute the waiting time in seconds after ``dt`` more seconds with this load ρ.

    A fluid queue: beyond ρ = 1, the backlog grows by ρ - 1 per second. It is damped: waiting clients send nothing,
    which shows only ticks later, and undamped the queue would oscillate forever. Clients leave after a minute.
    """
    gain = dt / (1.0 + dt / (_SETTLING + waiting / 2.0))
    return min(max(waiting + (load - 1.0) * gain, 0.0), _LONGEST)


@dataclass(slots=True)
class Bucket:
    """A token bucket that limits the rate of messages, as tc-tbf(8): what waits in front of it from tick to tick.

    ``load`` is offered over allowed bytes of the last tick, ``wait`` the seconds in its queue, and ``loss`` the share
    that does not fit into the queue. ``offered`` are the seconds that this tick's messages take.
    """

    load: float = 0.0
    wait: float = 0.0
    loss: float = 0.0
    offered: float = 0.0
    longest: float = _LONGEST

    def send(self, size: float, rate: float, queue: float) -> None:
        """Add bytes; ``queue`` bytes may wait, any number if it is 0."""
        self.offered += size / rate
        self.longest = min(queue / rate, _LONGEST) if queue else _LONGEST

    def delay(self, size: float, rate: float, burst: float) -> float:
        """Return the seconds for which a message waits: in the queue, and for tokens beyond those of a silence."""
        tokens = burst * max(1.0 - self.load, 0.0)
        return self.wait + max(size - tokens, 0.0) / rate

    def close(self, dt: float) -> None:
        """End the tick."""
        self.load = self.offered / dt
        wait = compute_wait(self.wait, self.load, dt)
        self.loss = 1.0 - 1.0 / self.load if wait >= self.longest and self.load > 1.0 else 0.0
        self.wait = min(wait, self.longest)
        self.offered = 0.0


@dataclass(slots=True)
class Gate:
    """Connection attempts that are serialised (``Edge.serialize_connects``), as by a lock.

    ``wait`` is the waiting time in this tick, ``demand`` the total seconds of this tick's attempts.
    """

    wait: float = 0.0
    demand: float = 0.0

    def enter(self, took: Floats) -> Floats:
        """Return the durations of attempts, given those without contention."""
        self.demand += float(took.sum())
        return took + self.wait

    def close(self, dt: float) -> None:
        """End the tick."""
        self.wait = compute_wait(self.wait, self.demand / dt, dt)
        self.demand = 0.0
