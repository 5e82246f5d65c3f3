"""What the probes of a pod's node find: whether a process answers, and how long that takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import structs

from scenario_kit.lab.twin.census import Census
from scenario_kit.lab.twin.flags import Active
from scenario_kit.lab.twin.network import Network
from scenario_kit.lab.twin.parameters import Physics
from scenario_kit.lab.twin.process import ProcessKey
from scenario_kit.lab.twin.shaping import delays
from scenario_kit.lab.twin.streams import Streams, identity
from scenario_kit.model.base import Object
from scenario_kit.model.process import Lag

#: What Linux waits before it repeats an answer to a handshake (RFC 6298, section 2).
_HANDSHAKE_SECONDS = 1.0


class Probes:
    """Answers from the last view."""

    def __init__(self, physics: Physics, census: Census, streams: Streams) -> None:
        self._physics = physics
        self._census = census
        self._streams = streams

    def answers(
        self,
        effects: Mapping[ProcessKey, Sequence[Active]],
        pod: Object,
        container: str,
        port: int,
        path: str | None,
        now: float,
    ) -> bool:
        """Whether a probe of a running container succeeds that has all the time it wants."""
        process = self._census.find(pod["metadata"]["uid"], container)
        if process is None or process.ended or now < process.ready_at:
            return False
        if path is not None and path.startswith("exec:"):
            return not process.idle
        listener = process.listener(port)
        if listener is None:
            return False
        if path is None or process.model is None:
            return True
        if path.startswith("grpc:"):
            ill = any(effect.unhealthy for effect in effects.get(process.key, ()))
            return listener.protocol in ("grpc", "tcp") and not ill
        return listener.protocol in ("http", "tcp") and any(fnmatchcase(path, pattern) for pattern in listener.paths)

    def lag(self, network: Network, pod: Object, container: str, path: str | None) -> Lag:
        """How long a probe waits: for packets, and for its turn on the CPU. The kernel accepts connections by itself.

        What chaos does to everybody's packets it does to the node's; policies let a node reach its own pods.
        """
        process = self._census.find(pod["metadata"]["uid"], container)
        queued = process.queued if process is not None else 0.0
        if path is not None and path.startswith("exec:"):
            return Lag(0.0, queued)
        wire = network.from_node(pod)
        if wire.cut:
            return Lag(math.inf, math.inf)
        connects = answered = 0.0
        if wire.back is not None:
            name, ordinal = (process.component, process.ordinal) if process is not None else (container, 0)
            draws = self._streams.open(identity(f"probe {name}"), ordinal).random((2, 2))
            patient = structs.replace(self._physics, retransmit_seconds=_HANDSHAKE_SECONDS)
            connects = float(delays(wire.back, draws[:, :1], patient)[0])
            answered = float(delays(wire.back, draws[:, 1:], self._physics)[0])
        return Lag(connects, connects if path is None else connects + answered + queued)
