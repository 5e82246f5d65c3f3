"""The latency of a call to its callee and back: a hop, plus the path's effects on each message."""

from __future__ import annotations

import msgspec
import numpy as np

from scenario_kit.lab.twin.network.calls import CallBatch
from scenario_kit.lab.twin.network.connections import ConnectionLane
from scenario_kit.lab.twin.network.endpoints import TrafficShape
from scenario_kit.lab.twin.network.traffic_shaping import HANDSHAKE_SECONDS, compute_delays
from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.lab.twin.numeric.batches import stream
from scenario_kit.lab.twin.numeric.random_streams import Streams, mix
from scenario_kit.lab.twin.numeric.serial_queue import Bucket
from scenario_kit.model.twin.definition import TwinConstants
from scenario_kit.model.twin.edge import Edge

_HOP, _SHAPE = 0x51, 0x53


class NetworkLatency:
    """Draw the network latency of messages."""

    def __init__(self, constants: TwinConstants, streams: Streams) -> None:
        self._constants = constants
        self._handshakes = msgspec.structs.replace(constants, retransmit_seconds=HANDSHAKE_SECONDS)
        self._streams = streams

    def cross(self, calls: CallBatch, lane: ConnectionLane, edge: Edge) -> tuple[Floats, Floats | None]:
        """Return the latency of each request, and that of each response where chaos delays responses."""
        took: Floats = self.noise(calls) * (self._constants.hop_ms / 1000.0 * self._constants.latency_scale)
        if lane.wire is None or (lane.wire.out is None and lane.wire.back is None):
            return took, None
        sent, replied = calls.caller.bucket, lane.target.bucket if lane.target is not None else Bucket()
        took += self._shape_delays(lane.wire.out, calls, 0, sent)
        back = self._shape_delays(lane.wire.back, calls, 1, replied)
        if not edge.reuse_connection:  # a handshake: one more message each way
            took += self._shape_delays(lane.wire.out, calls, 2, sent)
            took += self._shape_delays(lane.wire.back, calls, 3, replied)
        return took, back

    def noise(self, calls: CallBatch) -> Floats:
        """Return log-normal factors with median one."""
        key = stream(calls.node.key + _HOP, calls.salt)
        z: Floats = self._streams.normal(key, 1, calls.at.size, calls.caller.ordinal)[0]
        return np.asarray(np.exp(self._constants.sigma * z))

    def _shape_delays(self, shape: TrafficShape | None, calls: CallBatch, way: int, bucket: Bucket) -> Floats:
        n = calls.at.size
        if shape is None:
            return np.zeros(n)
        key = mix(calls.node.key, calls.salt + _SHAPE + 16 * way)
        draws = self._streams.open(key, calls.caller.ordinal).random((2, n))
        return compute_delays(shape, draws, self._handshakes if way > 1 else self._constants, bucket)
