"""What delay, loss and bandwidth limits do to one message."""

from __future__ import annotations

import numpy as np

from scenario_kit.lab.twin.network.endpoints import TrafficShape
from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.model.twin.definition import Physics


def compute_delays(shape: TrafficShape, draws: Floats, physics: Physics) -> Floats:
    """Compute seconds added to each message; ``draws`` are two rows of uniform numbers.

    Jitter is uniform around the delay. A message that is lost k times comes 0.2·(2^k-1) s later, which happens with
    probability p^k·(1-p) (docs/fidelity.md) until Linux stops doubling its wait, and gives up. A limited rate adds the
    message's size over the rate.
    """
    result: Floats = np.maximum(shape.delay + shape.jitter * (2.0 * draws[0] - 1.0), 0.0)
    if shape.loss > 0.0:
        # Inverse of the geometric distribution; 1 - u lies in (0, 1], so the logarithm is finite.
        lost = np.floor(np.log(1.0 - draws[1]) / np.log(shape.loss))
        result += _waits(physics)[np.minimum(lost, physics.retransmissions).astype(np.int64)]
    if shape.rate > 0.0:
        result += physics.message_bytes / shape.rate
    return result


def find_next_retransmission(since: float, now: float, physics: Physics) -> float:
    """Find when Linux next repeats what it has been sending in vain ``since`` then."""
    due = since + _waits(physics)
    return float(due[min(int(np.searchsorted(due, now)), due.size - 1)])


def _waits(physics: Physics) -> Floats:
    """Return how late a message is that is lost 0, 1, 2 … times: each wait is twice the one before, up to a limit."""
    waits = physics.retransmit_seconds * np.exp2(np.arange(physics.retransmissions))
    return np.concatenate([[0.0], np.cumsum(np.minimum(waits, physics.retransmit_limit_seconds))])
