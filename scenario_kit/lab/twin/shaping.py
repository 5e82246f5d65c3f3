"""What delay, loss and bandwidth limits do to one message."""

from __future__ import annotations

import numpy as np

from scenario_kit.lab.twin.arrays import Floats
from scenario_kit.lab.twin.network import Shape
from scenario_kit.lab.twin.parameters import Physics


def delays(shape: Shape, draws: Floats, physics: Physics) -> Floats:
    """Seconds added to each message; ``draws`` are two rows of uniform numbers.

    Jitter is uniform around the delay. A message that is lost k times comes 0.2·(2^k-1) s later, which happens with
    probability p^k·(1-p) (behaviour.md §1.2). A limited rate adds the message's size over the rate.
    """
    result: Floats = np.maximum(shape.delay + shape.jitter * (2.0 * draws[0] - 1.0), 0.0)
    if shape.loss > 0.0:
        # Inverse of the geometric distribution; 1 - u lies in (0, 1], so the logarithm is finite.
        lost = np.floor(np.log(1.0 - draws[1]) / np.log(shape.loss))
        result += physics.retransmit_seconds * (np.exp2(np.minimum(lost, 16.0)) - 1.0)
    if shape.rate > 0.0:
        result += physics.message_bytes / shape.rate
    return result
