"""The latency of a call to its callee and back: a hop, plus the path's effects on each message."""

from __future__ import annotations

import msgspec
import numpy as np

from scenario_kit.lab.twin.network.calls import CallBatch
from scenario_kit.lab.twin.network.dialling import ConnectionLane
from scenario_kit.lab.twin.network.lost_queries import choose
from scenario_kit.lab.twin.network.packet_effects import TrafficShape
from scenario_kit.lab.twin.network.pool_use import PoolUse
from scenario_kit.lab.twin.network.retransmissions import Path, Retransmissions
from scenario_kit.lab.twin.network.traffic_shaping import (
    HANDSHAKE_SECONDS,
    compute_delays,
    count_losses,
    find_loss,
    list_waits,
)
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats
from scenario_kit.lab.twin.numeric.batches import REQUEST, stream
from scenario_kit.lab.twin.numeric.random_streams import Streams, mix
from scenario_kit.lab.twin.numeric.serial_queue import Bucket
from scenario_kit.model.twin.definition import TwinConstants
from scenario_kit.model.twin.edge import Edge

_HOP, _SHAPE, _POOL, _NAME = 0x51, 0x53, 0x54, 0x5A
#: Messages of a call: the first each way are 0 and 1, those of a dial and of later round trips begin here.
_DIAL, _LATER = 2, 64


class NetworkLatency:
    """Draw the network latency of messages."""

    def __init__(self, constants: TwinConstants, streams: Streams) -> None:
        self._constants = constants
        self._handshakes = msgspec.structs.replace(constants, retransmit_seconds=HANDSHAKE_SECONDS)
        self._streams = streams
        self._pools = PoolUse()
        self.retransmissions = Retransmissions()

    def cross(
        self, calls: CallBatch, lane: ConnectionLane, edge: Edge, until: Floats | None = None
    ) -> tuple[Floats, Floats | None]:
        """Return the latency of each request, and that of each response where chaos delays responses.

        ``until`` is when the caller gives up.
        """
        took: Floats = self.noise(calls) * (self._constants.hop_ms / 1000.0 * self._constants.latency_scale)
        if edge.idle_connections:
            self._pools.count(calls.link.key, calls.at.size)
        unaffected = lane.wire is None or (lane.wire.out is None and lane.wire.back is None)
        if unaffected and not lane.resolve_seconds and not lane.resolutions:
            return took, None
        began = calls.at + took
        sent, back = self._travel(calls, lane, 0, self._constants)
        self.note_losses(calls, lane, 0, began, until)
        took += sent
        for trip in range(1, calls.node.operation.model.round_trips):
            took += self._make_round_trip(calls, lane, _LATER + 2 * trip, self._constants, (calls.at + took, until))
        dials = self._find_dialling(calls, edge, took + back)
        if dials is not None:
            for trip in range(edge.connect_round_trips):
                constants = self._constants if trip else self._handshakes  # the first is the handshake of TCP
                began = np.where(dials, calls.at + took, np.inf)
                added = self._make_round_trip(calls, lane, _DIAL + 2 * trip, constants, (began, until))
                took += np.where(dials, added, 0.0)
            took += np.where(dials, self._resolve(calls, lane), 0.0)
        return took, back

    def begin(self, start: float, end: float) -> None:
        """Begin a tick."""
        self._pools.begin(start, end)
        self.retransmissions.begin(end)

    def note_losses(
        self,
        calls: CallBatch,
        lane: ConnectionLane,
        way: int,
        began: Floats,
        until: Floats | None,
        constants: TwinConstants | None = None,
    ) -> None:
        """Note which messages, sent at ``began``, are lost for so long that the path may change meanwhile.

        Waits beyond ``until`` are not: the caller does not see their end.
        """
        requests, constants = calls.draws.get(REQUEST), constants or self._constants
        back = bool(way % 2)
        shape = None if lane.wire is None else lane.wire.back if back else lane.wire.out
        if requests is None or lane.target is None or shape is None:
            return
        loss = find_loss(shape, lane.target.bucket if back else calls.caller.bucket)
        if loss > 0.0:
            path = Path(calls.link.key, lane.target.key, back)
            draws = 1.0 - self._draw(calls, way)[1]
            sent = np.isfinite(began)
            if until is not None:
                waits = list_waits(constants)[count_losses(draws, loss, constants.retransmissions)]
                sent &= began + waits <= until
            self.retransmissions.add(path, requests[sent], began[sent], draws[sent], loss, constants)

    def _make_round_trip(
        self,
        calls: CallBatch,
        lane: ConnectionLane,
        way: int,
        constants: TwinConstants,
        span: tuple[Floats, Floats | None],
    ) -> Floats:
        """Return how long a round trip takes; ``span`` is when it begins, and when the caller gives up."""
        began, until = span
        out, back = self._travel(calls, lane, way, constants)
        self.note_losses(calls, lane, way, began, until, constants)
        self.note_losses(calls, lane, way + 1, began + out, until, constants)
        return np.asarray(out + back)

    def _resolve(self, calls: CallBatch, lane: ConnectionLane) -> float | Floats:
        """Return the seconds until each call has the callee's address."""
        if not lane.resolutions:
            return lane.resolve_seconds
        seconds = np.asarray([resolution.seconds for resolution in lane.resolutions])
        return np.asarray(seconds[choose(lane.resolutions, self.draw_resolutions(calls))])

    def draw_resolutions(self, calls: CallBatch) -> Floats:
        """Draw a uniform number for the resolution of each call."""
        return self._streams.uniform(mix(calls.node.key, calls.salt + _NAME), calls.at.size, calls.caller.ordinal)

    def _travel(
        self, calls: CallBatch, lane: ConnectionLane, way: int, constants: TwinConstants
    ) -> tuple[Floats, Floats]:
        """Return what the path adds to the latency of a message to the callee, and of one back."""
        out, back = (lane.wire.out, lane.wire.back) if lane.wire is not None else (None, None)
        replied = lane.target.bucket if lane.target is not None else Bucket()
        return (
            self._shape_delays(out, calls, way, calls.caller.bucket, constants),
            self._shape_delays(back, calls, way + 1, replied, constants),
        )

    def _find_dialling(self, calls: CallBatch, edge: Edge, took: Floats) -> Flags | None:
        """Return which calls open a connection; None if all use an open one."""
        if not edge.reuse_connection:
            return np.ones(calls.at.size, dtype=bool)
        if not edge.idle_connections:
            return None
        share = self._pools.compute_dialling_share(edge, calls.link.key, float(took.mean()))
        if not share:
            return None
        key = mix(calls.node.key, calls.salt + _POOL)
        return np.asarray(self._streams.open(key, calls.caller.ordinal).random(calls.at.size) < share)

    def noise(self, calls: CallBatch) -> Floats:
        """Return log-normal factors with median one."""
        key = stream(calls.node.key + _HOP, calls.salt)
        z: Floats = self._streams.normal(key, 1, calls.at.size, calls.caller.ordinal)[0]
        return np.asarray(np.exp(self._constants.sigma * z))

    def _shape_delays(
        self,
        shape: TrafficShape | None,
        calls: CallBatch,
        way: int,
        bucket: Bucket,
        constants: TwinConstants,
    ) -> Floats:
        if shape is None:
            return np.zeros(calls.at.size)
        return compute_delays(shape, self._draw(calls, way), constants, bucket)

    def _draw(self, calls: CallBatch, way: int) -> Floats:
        """Return two rows of uniform numbers for a message of each call: for its delay and its losses."""
        key = mix(calls.node.key, calls.salt + _SHAPE + 16 * way)
        return self._streams.open(key, calls.caller.ordinal).random((2, calls.at.size))
