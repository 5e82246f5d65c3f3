"""Connections between processes, which outlive the objects that were needed to open them (docs/fidelity.md).

gRPC channels and store pools keep their peer until one end restarts, whatever happens to Services and endpoints.
HTTP/1.1 pools converge to the new state within a minute. New connections use the current state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from scenario_kit.lab.twin.address import Address, parse
from scenario_kit.lab.twin.network.connect_timeouts import find_channel_resolve_timeout, find_channel_timeout
from scenario_kit.lab.twin.network.dialling import ConnectionLane, dial, greet, reach, read_address
from scenario_kit.lab.twin.network.endpoints import Destination, Network
from scenario_kit.lab.twin.network.http_chaos import HttpRule
from scenario_kit.lab.twin.network.registry import ServiceRegistries
from scenario_kit.lab.twin.numeric.random_streams import Streams, hash_text, mix
from scenario_kit.lab.twin.outcome import NO_ANSWER, ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.model.twin.definition import TwinConstants
from scenario_kit.model.twin.edge import Edge


class NetworkTick(NamedTuple):
    """The reachable processes during a tick from ``start`` to ``end``."""

    network: Network
    process_table: ProcessTable
    start: float
    end: float


class LinkKey(NamedTuple):
    """A process and the index of one of its edges."""

    process: ProcessKey
    edge: int


class Link(NamedTuple):
    """The state of one edge of a process during a tick. Calls are spread evenly over ``lanes``.

    ``old`` are pooled connections that are no longer available to new dials; the share of calls on them falls from one
    at ``old_from`` to zero at ``old_until``.
    """

    key: LinkKey
    address: Address
    ip: str
    lanes: tuple[ConnectionLane, ...]
    old: tuple[ConnectionLane, ...] = ()
    old_from: float = 0.0
    old_until: float = 0.0

    @property
    def works(self) -> bool:
        """Whether some calls succeed."""
        return any(lane.outcome == ConnectionOutcome.OK for lane in (*self.lanes, *self.old))

    @property
    def hangs(self) -> bool:
        """Whether calls hang indefinitely."""
        lanes = (*self.lanes, *self.old)
        return any(
            lane.outcome == ConnectionOutcome.CONNECTION_TIMEOUT or (lane.target and lane.target.store_state.locked)
            for lane in lanes
        )


@dataclass(slots=True)
class _State:
    """A caller's connection state for one edge."""

    peer: ProcessKey | None = None
    port: int = 0
    front: Destination | None = None
    connects: int = 0
    broken_at: float | None = None
    healthy_at: float | None = None
    cut_since: float | None = None
    dial_cut_since: float | None = None
    pool: tuple[_Place, ...] | None = None
    pool_since: float | None = None


#: The end of a pooled connection: process, port, the rules of proxies on it, and where its packets are addressed to.
_Place = tuple[ProcessKey, int, tuple[HttpRule, ...], Destination | None]


class Connections:
    """The connections of all running processes, by caller and edge."""

    def __init__(
        self, edges: tuple[Edge, ...], constants: TwinConstants, streams: Streams, registries: ServiceRegistries
    ) -> None:
        self._edges = edges
        self._constants = constants
        self._streams = streams
        self._registries = registries
        self._states: dict[tuple[LinkKey, Destination | None], _State] = {}
        self._network: Network | None = None
        self._dialled: dict[tuple[LinkKey, str], tuple[Address, tuple[ConnectionLane, ...], str]] = {}
        self._resolves: dict[LinkKey, str] = {}

    def redial(self) -> None:
        """Invalidate cached dials: a process has ended."""
        self._dialled.clear()

    def forget(self, process_table: ProcessTable) -> None:
        """Drop the state of ended callers."""
        self._states = {
            key: state for key, state in self._states.items() if process_table.get(key[0].process) is not None
        }
        self._resolves = {key: ip for key, ip in self._resolves.items() if process_table.get(key.process) is not None}

    def link(
        self,
        caller: Process,
        number: int,
        tick: NetworkTick,
        redirect: str = "",
    ) -> Link:
        """Return the state of one edge during a tick, and update its connections."""
        network, start, end = tick.network, tick.start, tick.end
        edge = self._edges[number]
        key = LinkKey(caller.key, number)
        if network is not self._network:
            self._network = network
            self._dialled.clear()
        if (key, redirect) not in self._dialled:
            address = parse(redirect, edge.address.default_port) if redirect else read_address(edge.address, caller)
            self._dialled[key, redirect] = (address, *self._resolve_dial(key, edge, address, caller, network))
        address, dialled, ip = self._dialled[key, redirect]
        if edge.registry:
            return Link(key, address, ip, self._dial_registered(key, caller, dialled, tick))
        if redirect or not edge.reuse_connection or edge.protocol == "udp":
            return Link(key, address, ip, dialled)
        state = self._states.setdefault((key, None), _State())
        if edge.protocol == "http":
            return self._pool(Link(key, address, ip, dialled), state, caller, edge, tick)
        lane = self._live(state, caller, edge, tick)
        # Calls that hang keep the few connections of a pool; all others dial.
        if lane is None or (lane.outcome == ConnectionOutcome.CONNECTION_TIMEOUT and edge.idle_connections):
            lane = self._dial(state, caller, number, dialled, start, end)
        return Link(key, address, ip, (lane,))

    def _resolve_dial(
        self, key: LinkKey, edge: Edge, address: Address, caller: Process, network: Network
    ) -> tuple[tuple[ConnectionLane, ...], str]:
        """Dial. Senders of datagrams resolve once; some callers keep a previous address."""
        known = self._resolves.get(key)
        if known and edge.protocol == "udp":
            return dial(edge, address._replace(host=known), caller, network)
        lanes, ip = dial(edge, address, caller, network)
        if known and edge.use_stale_address and lanes[0].outcome in NO_ANSWER:
            return dial(edge, address._replace(host=known), caller, network)
        if ip and (edge.use_stale_address or edge.protocol == "udp"):
            self._resolves[key] = ip
        return lanes, ip

    def _dial_registered(
        self, key: LinkKey, caller: Process, dialled: tuple[ConnectionLane, ...], tick: NetworkTick
    ) -> tuple[ConnectionLane, ...]:
        """Return one connection per registered address.

        Calls rotate over the established ones; HTTP clients take the next address of the list for each call.
        """
        start, end = tick.start, tick.end
        edge = self._edges[key.edge]
        registry = next(
            (lane.target for lane in dialled if lane.outcome == ConnectionOutcome.OK and lane.ready_at <= start), None
        )
        places = self._registries.watch(caller, edge.registry, edge.name, registry, start)
        if edge.protocol == "http" and places:
            return tuple(reach(edge, Address(one.ip, one.port), caller, tick.network, one, None) for one in places)
        lanes = []
        for place in places:
            state = self._states.setdefault((key, place), _State())
            lane = self._live(state, caller, edge, tick)
            if lane is None:
                one = reach(edge, Address(place.ip, place.port), caller, tick.network, place, None)
                lane = self._dial(state, caller, key.edge, (one,), start, end)
            lanes.append((lane, state.peer is not None))
        stand = tuple(lane for lane, connected in lanes if connected and lane.ready_at <= start)
        if stand:
            return stand
        soon = tuple(lane for lane, connected in lanes if connected)
        return soon or tuple(lane for lane, _ in lanes)[:1] or (ConnectionLane(ConnectionOutcome.NO_ADDRESSES),)

    def _live(self, state: _State, caller: Process, edge: Edge, tick: NetworkTick) -> ConnectionLane | None:
        if state.peer is None:
            return None
        network, process_table, start, end = tick
        peer = process_table.get(state.peer)
        if peer is None or peer.ended:
            state.peer = None
            state.broken_at = state.cut_since if state.cut_since is not None else start
            state.cut_since = None
            return None
        wire = network.wire(caller, peer.pod, state.port, front=state.front)
        if not wire.cut and not wire.stalled:
            state.cut_since = None
            outcome = greet(edge, peer, state.port, network)
            return ConnectionLane(outcome, peer, wire, 0.0, port=state.port, front=state.front)
        state.cut_since = start if state.cut_since is None else state.cut_since
        if end - state.cut_since <= (edge.keepalive_timeout_seconds or self._constants.tcp_timeout_seconds):
            return ConnectionLane(ConnectionOutcome.CONNECTION_TIMEOUT, peer, wire, port=state.port)
        state.peer, state.broken_at, state.cut_since = None, state.cut_since, None
        return None

    def _dial(
        self, state: _State, caller: Process, number: int, dialled: tuple[ConnectionLane, ...], start: float, end: float
    ) -> ConnectionLane:
        edge = self._edges[number]
        good = [lane for lane in dialled if _connects(edge, lane) and lane.ready_at <= end]
        if good:
            return self._connect(state, caller, number, good, start, end)
        state.healthy_at = None
        state.broken_at = start if state.broken_at is None else state.broken_at
        cut = [lane for lane in dialled if lane.unanswered]
        if not cut:
            state.dial_cut_since = None
            return (
                dialled[0]
                if dialled[0].outcome != ConnectionOutcome.OK
                else ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED, ready_at=0.0)
            )
        if edge.protocol != "grpc":
            return cut[0]
        state.dial_cut_since = start if state.dial_cut_since is None else state.dial_cut_since
        if cut[0].outcome == ConnectionOutcome.CONNECTION_TIMEOUT:
            limit = find_channel_timeout(edge, caller.dialect)
        else:
            limit = find_channel_resolve_timeout(caller.dialect, cut[0].resolve_seconds)
        return cut[0]._replace(fails_at=state.dial_cut_since + limit)

    def _connect(
        self, state: _State, caller: Process, number: int, good: list[ConnectionLane], start: float, end: float
    ) -> ConnectionLane:
        base = mix(hash_text(name_edge(self._edges[number])), state.connects)
        chosen = good[int(self._streams.anytime(mix(base, 1), caller.ordinal) * len(good))]
        opens = chosen.ready_at
        if state.broken_at is not None and self._edges[number].protocol == "grpc":
            if state.healthy_at is None:
                state.healthy_at = max(start, min(lane.ready_at for lane in good))
            outage = min(max(state.healthy_at - state.broken_at, 0.0), self._constants.reconnect_seconds)
            opens = max(opens, state.healthy_at + outage * self._streams.anytime(mix(base, 2), caller.ordinal))
        if opens > end:
            return ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED, ready_at=0.0)
        state.peer, state.port = chosen.target.key if chosen.target else None, chosen.port
        state.front = chosen.front
        state.broken_at = state.healthy_at = state.dial_cut_since = None
        state.connects += 1
        return chosen._replace(ready_at=opens)

    def _pool(self, link: Link, state: _State, caller: Process, edge: Edge, tick: NetworkTick) -> Link:
        network, process_table, start, _ = tick
        now = tuple(
            (lane.target.key, lane.port, lane.wire.rules if lane.wire is not None else (), lane.front)
            for lane in link.lanes
            if lane.target is not None
        )
        if state.pool is None:
            state.pool = now
        left = []
        for place in state.pool:
            peer, port, met, front = place
            # A proxy does not affect older connections; those through it end with it.
            process = process_table.get(peer) if place not in now and not met else None
            if process is not None and not process.ended:
                wire = network.wire(caller, process.pod, port, front=front)._replace(rules=())
                silent = wire.cut or wire.stalled
                outcome = ConnectionOutcome.CONNECTION_TIMEOUT if silent else greet(edge, process, port, network)
                left.append(ConnectionLane(outcome, process, wire, process.ready_at, port=port))
        since = start if state.pool_since is None else state.pool_since
        if not left or start - since >= self._constants.http_pool_seconds:
            state.pool, state.pool_since = now, None
            return link
        state.pool_since = since
        return link._replace(old=tuple(left), old_from=since, old_until=since + self._constants.http_pool_seconds)


def name_edge(edge: Edge) -> str:
    """Return the name of an edge for random streams."""
    return f"{edge.caller}>{edge.callee}/{edge.protocol}"


def find_timeout(edge: Edge, caller: Process) -> float:
    """Return a caller's timeout in seconds; 0 for none."""
    text = caller.env.get(edge.timeout_env) if edge.timeout_env else None
    if text is None:
        return edge.timeout_seconds
    return float(text) if text.isdigit() and int(text) else edge.timeout_fallback_seconds


def _connects(edge: Edge, lane: ConnectionLane) -> bool:
    """Return whether a connection is established: with the right program, or one with the same protocol."""
    if lane.outcome == ConnectionOutcome.OK:
        return True
    if lane.outcome != ConnectionOutcome.PROTOCOL_MISMATCH or lane.target is None:
        return False
    listener = lane.target.listener(lane.port)
    return listener is not None and listener.protocol == edge.protocol
