"""Probes from a pod's node: result and latency."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np
from msgspec import structs

from scenario_kit.lab.twin.call_tree.routes import HttpRoute
from scenario_kit.lab.twin.network import http_chaos
from scenario_kit.lab.twin.network.connections import Link, LinkKey
from scenario_kit.lab.twin.network.endpoints import Network
from scenario_kit.lab.twin.network.traffic_shaping import HANDSHAKE_SECONDS, compute_delays
from scenario_kit.lab.twin.numeric.random_streams import Streams, hash_text
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Listener, Process, ProcessKey
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.lab.twin.runtime.flags import Active
from scenario_kit.model.base import Object
from scenario_kit.model.runtime.process import Lag
from scenario_kit.model.twin.definition import TwinDefinition


class Probes:
    """Probe results from the last view, and from the calls of the last tick."""

    def __init__(self, parameters: TwinDefinition, process_table: ProcessTable, streams: Streams) -> None:
        self._constants = parameters.constants
        self._edges = parameters.edges
        self._links: Mapping[LinkKey, Link] | None = None
        self._process_table = process_table
        self._streams = streams

    def note(self, links: Mapping[LinkKey, Link]) -> None:
        """Record the current links of processes; before the first tick, every callee counts as reachable."""
        self._links = links

    def answers(
        self,
        effects: Mapping[ProcessKey, Sequence[Active]],
        pod: Object,
        container: str,
        port: int,
        path: str | None,
        now: float,
    ) -> bool:
        """Return whether a probe of a running container succeeds without a timeout."""
        process = self._process_table.find(pod["metadata"]["uid"], container)
        if process is None or not process.serves(now):
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
        served = listener.protocol in ("http", "tcp") and any(fnmatchcase(path, each) for each in listener.paths)
        return served and all(_is_answered(link, now) for link in self._behind(process, listener, path))

    def lag(self, network: Network, pod: Object, container: str, port: int, path: str | None, now: float) -> Lag:
        """Return the latency of a probe at ``now``: packets, a proxy, and waiting for the CPU, which it needs once.

        The kernel accepts connections by itself.

        Chaos on all of a pod's traffic applies to the node's as well; policies always allow a node to reach its pods.
        The kubelet opens a connection for each probe, so that a proxy sees all of those for HTTP.
        """
        process = self._process_table.find(pod["metadata"]["uid"], container)
        queued = _wait_for_cpu(process, now) if process is not None else 0.0
        if path is not None and path.startswith("exec:"):
            return Lag(0.0, queued)
        waited = 0.0
        if process is not None and path is not None:
            links = (link for port in process.listeners for link in self._behind(process, port, path))
            waited = sum((self._waits(process, link) for link in links if link is not None), 0.0)
        wire = network.from_node(pod)
        if wire.cut:
            return Lag(math.inf, math.inf)
        connects = answered = 0.0
        if wire.back is not None:
            name, ordinal = (process.component, process.ordinal) if process is not None else (container, 0)
            draws = self._streams.open(hash_text(f"probe {name}"), ordinal).random((2, 2))
            patient = structs.replace(self._constants, retransmit_seconds=HANDSHAKE_SECONDS)
            bucket = process.bucket if process is not None else None
            connects = float(compute_delays(wire.back, draws[:, :1], patient, bucket)[0])
            answered = float(compute_delays(wire.back, draws[:, 1:], self._constants, bucket)[0])
        if path is None:
            return Lag(connects, connects)
        delay, status = 0.0, 200
        if path.startswith("/"):
            route = HttpRoute("GET", path.partition("?")[0])
            delay, status = http_chaos.pass_proxy(network.list_rules(pod, port), route)
        return Lag(connects, connects + answered + queued + waited + delay, status)

    def _behind(self, process: Process, listener: Listener, path: str) -> Iterator[Link | None]:
        """Yield the links of a health page's calls; None for one that the process has not used yet."""
        desired = {callee for pattern, those in listener.asks.items() if fnmatchcase(path, pattern) for callee in those}
        for number, edge in enumerate(self._edges):
            if self._links is not None and edge.caller == process.component and edge.callee in desired:
                yield self._links.get(LinkKey(process.key, number))

    def _waits(self, process: Process, link: Link) -> float:
        """Return the delay of a request and its response in seconds."""
        wire = link.lanes[0].wire if link.lanes else None
        shapes = [shape for shape in (wire.out, wire.back) if shape is not None] if wire is not None else []
        if not shapes:
            return 0.0
        draws = self._streams.open(hash_text(f"health {process.component}"), process.ordinal).random((2, len(shapes)))
        return sum(float(compute_delays(s, draws[:, i : i + 1], self._constants)[0]) for i, s in enumerate(shapes))


def _is_answered(link: Link | None, now: float) -> bool:
    """Return whether a running callee responds."""
    return link is not None and any(
        lane.outcome == ConnectionOutcome.OK and lane.ready_at <= now for lane in (*link.lanes, *link.old)
    )


def _wait_for_cpu(process: Process, now: float) -> float:
    """Return how long a short request waits for the CPU: behind what is ready to run, and for the container to run.

    Requests wait in all as long as the queue is, in as many parts as they need the CPU; a probe needs it once.
    """
    queued = process.queued / process.bursts
    if process.windows is None:
        return queued
    return float(process.windows.wake(np.array([now + queued]))[0]) - now
