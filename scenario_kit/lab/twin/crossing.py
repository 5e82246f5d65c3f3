"""The way of a call to its callee and back: a hop, and what the wire adds to each message."""

from __future__ import annotations

import numpy as np

from scenario_kit.lab.twin.arrays import Floats
from scenario_kit.lab.twin.batches import stream
from scenario_kit.lab.twin.connections import Lane
from scenario_kit.lab.twin.network import Shape
from scenario_kit.lab.twin.parameters import Edge, Physics
from scenario_kit.lab.twin.process import Process
from scenario_kit.lab.twin.shaping import delays
from scenario_kit.lab.twin.streams import Streams, mix
from scenario_kit.lab.twin.tree import CallNode

_HOP, _SHAPE = 0x51, 0x53


class Crossing:
    """Draws how long messages are under way."""

    def __init__(self, physics: Physics, streams: Streams) -> None:
        self._physics = physics
        self._streams = streams

    def cross(
        self, caller: Process, node: CallNode, lane: Lane, edge: Edge, salt: int, n: int
    ) -> tuple[Floats, Floats | None]:
        """Seconds until ``n`` calls have reached the callee, and those of the answers where the wire delays them."""
        took: Floats = self.noise(caller, node, salt, n) * (self._physics.hop_ms / 1000.0 * self._physics.latency_scale)
        if lane.wire is None or (lane.wire.out is None and lane.wire.back is None):
            return took, None
        took += self._shaped(lane.wire.out, node, salt, 0, n, caller)
        back = self._shaped(lane.wire.back, node, salt, 1, n, caller)
        if not edge.shared:  # a handshake of its own: one more message each way
            took += self._shaped(lane.wire.out, node, salt, 2, n, caller)
            took += self._shaped(lane.wire.back, node, salt, 3, n, caller)
        return took, back

    def noise(self, caller: Process, node: CallNode, salt: int, n: int) -> Floats:
        """Log-normal factors around one."""
        z: Floats = self._streams.normal(stream(node.key + _HOP, salt), 1, n, caller.ordinal)[0]
        return np.asarray(np.exp(self._physics.sigma * z))

    def _shaped(self, shape: Shape | None, node: CallNode, salt: int, way: int, n: int, caller: Process) -> Floats:
        if shape is None:
            return np.zeros(n)
        draws = self._streams.open(mix(node.key, salt + _SHAPE + 16 * way), caller.ordinal).random((2, n))
        return delays(shape, draws, self._physics)
