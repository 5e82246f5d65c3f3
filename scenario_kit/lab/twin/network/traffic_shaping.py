"""Effects of delay, loss and bandwidth limits on a message."""

from __future__ import annotations

from typing import Final

import numpy as np

from scenario_kit.lab.twin.network.packet_effects import TrafficShape
from scenario_kit.lab.twin.numeric.arrays import Floats, Ints
from scenario_kit.lab.twin.numeric.correlated_draws import spread_jitter
from scenario_kit.lab.twin.numeric.serial_queue import Bucket
from scenario_kit.model.twin.definition import TwinConstants

#: The retransmission timeout of a handshake in Linux, where no round trip was measured (RFC 6298, section 2).
HANDSHAKE_SECONDS: Final = 1.0
#: After how long Linux gives up an attempt to connect (``tcp_syn_retries``, since 6.5).
CONNECT_SECONDS: Final = 131.0


def compute_delays(
    shape: TrafficShape, draws: Floats, constants: TwinConstants, bucket: Bucket | None = None
) -> Floats:
    """Compute the added delay of each message in seconds; ``draws`` are two rows of uniform numbers.

    Jitter is uniform around the delay. A message lost k times is 0.2·(2^k-1) s late, with probability p^k·(1-p)
    (docs/fidelity.md), until Linux reaches its maximum timeout, and finally gives up. A rate limit adds the delay of
    the sender's token bucket; messages that its queue has no room for are lost.
    """
    spread = draws[0]
    if shape.prompt > 0.0:  # the draw of those with a delay is uniform again
        spread = (draws[0] - shape.prompt) / max(1.0 - shape.prompt, 1e-9)
    spread = spread_jitter(spread, shape.jitter, shape.jitter_correlation)
    result: Floats = np.maximum(shape.delay + shape.jitter * (2.0 * spread - 1.0), 0.0)
    result[draws[0] < shape.prompt] = 0.0
    bucket = bucket or Bucket()
    loss = find_loss(shape, bucket)
    if loss > 0.0:
        result += list_waits(constants)[count_losses(1.0 - draws[1], loss, constants.retransmissions)]
    if shape.rate > 0.0:
        result += bucket.delay(constants.message_bytes, shape.rate, shape.burst)
    return result


def find_loss(shape: TrafficShape | None, bucket: Bucket) -> float:
    """Return the share of messages that are lost, also for lack of room in front of a limit of the rate."""
    if shape is None:
        return 0.0
    return 1.0 - (1.0 - shape.loss) * (1.0 - bucket.loss) if shape.rate > 0.0 else shape.loss


def count_losses(draws: Floats, loss: float, most: int) -> Ints:
    """Return how often in a row each message is lost, by a number in (0, 1]; at ``most``, or if all are, so often."""
    if loss <= 0.0 or loss >= 1.0:
        return np.full(draws.size, most if loss > 0.0 else 0, dtype=np.int64)
    # The inverse of the geometric distribution.
    return np.asarray(np.minimum(np.floor(np.log(draws) / np.log(loss)), most).astype(np.int64))


def find_next_retransmission(since: float, now: float, constants: TwinConstants) -> float:
    """Return when Linux next retransmits what it has sent without a response ``since`` then."""
    due = since + list_waits(constants)
    return float(due[min(int(np.searchsorted(due, now)), due.size - 1)])


def list_waits(constants: TwinConstants) -> Floats:
    """Return the delays after 0, 1, 2 … losses: the timeout doubles up to a limit."""
    waits = constants.retransmit_seconds * np.exp2(np.arange(constants.retransmissions))
    return np.concatenate([[0.0], np.cumsum(np.minimum(waits, constants.retransmit_limit_seconds))])
