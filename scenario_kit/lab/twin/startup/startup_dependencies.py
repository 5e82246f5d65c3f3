"""Start-up dependencies: callees that must be reachable, in sequence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scenario_kit.lab.twin.client_errors.by_language import describe_cause
from scenario_kit.lab.twin.network.connect_timeouts import find_channel_timeout
from scenario_kit.lab.twin.network.dialling import ConnectionLane, dial, read_address
from scenario_kit.lab.twin.network.endpoints import Network
from scenario_kit.lab.twin.network.traffic_shaping import CONNECT_SECONDS
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.model.twin.component import Need
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.edge import Edge


class StartState(NamedTuple):
    """The start-up state: started or exited at ``at``, or waiting, with ``at`` infinite."""

    at: float
    up: bool = False
    code: int = 0
    text: str = ""


@dataclass(slots=True)
class _Waiting:
    """A starting process: its next dependency, since when it waits, and when that was last unmet."""

    process: Process
    number: int
    since: float
    unmet: float


class StartupDependencies:
    """The processes of a world that wait for dependencies."""

    def __init__(self, parameters: TwinDefinition) -> None:
        self._edges: dict[tuple[str, str], Edge] = {(e.caller, e.callee): e for e in reversed(parameters.edges)}
        self._waiting: dict[tuple[str, str], _Waiting] = {}

    def edge(self, caller: str, callee: str) -> Edge:
        """Return the edge between two components."""
        return self._edges[caller, callee]

    def begin(self, process: Process, network: Network, now: float) -> StartState:
        """Start a process; return its immediate state. One that waits is tracked."""
        waiting = _Waiting(process, 0, now, now)
        state = self._advance(waiting, network, now)
        if state.at == float("inf"):
            self._waiting[process.key.pod_uid, process.key.container] = waiting
        else:
            self._waiting.pop((process.key.pod_uid, process.key.container), None)
        return state

    def run(
        self, alive: Mapping[ProcessKey, Process], network: Network, now: float
    ) -> Iterable[tuple[Process, StartState]]:
        """Return processes that started or exited by ``now``."""
        present = set(map(id, alive.values()))
        result = []
        for key, waiting in list(self._waiting.items()):
            if id(waiting.process) not in present:
                if waiting.since < now - 60.0:  # started, but never observed as running: the pod is gone
                    del self._waiting[key]
                continue
            state = self._advance(waiting, network, now)
            if state.at != float("inf"):
                del self._waiting[key]
                result.append((waiting.process, state))
        return result

    def _advance(self, waiting: _Waiting, network: Network, now: float) -> StartState:
        start = waiting.process.model.start if waiting.process.model else None
        while start is not None and waiting.number < len(start.dependencies):
            need = start.dependencies[waiting.number]
            lanes, words = self._lanes(waiting.process, need, network)
            ready = min((lane.ready_at for lane in lanes if lane.outcome == ConnectionOutcome.OK), default=float("inf"))
            met = max(ready, waiting.since, waiting.unmet)
            patience = self._find_patience(waiting.process, need, lanes)
            deadline = waiting.since + patience
            if met <= deadline and met != float("inf"):
                waiting.number, waiting.since, waiting.unmet = waiting.number + 1, met, met
            elif need.lazy and now >= deadline:
                waiting.process.lacks[need.callee] = need
                waiting.number, waiting.since, waiting.unmet = waiting.number + 1, deadline, deadline
            elif need.wait_seconds > 0.0 and not need.lazy and _is_login_refused(lanes, now):
                words = self._put(waiting.process, need, words)
                return StartState(waiting.unmet + start.exit_delay_seconds, False, need.code, words)
            elif now >= deadline or met != float("inf"):
                words = self._put(waiting.process, need, words)
                at = waiting.since + (patience or start.exit_delay_seconds)
                return StartState(max(at, waiting.unmet), False, need.code, words)
            else:
                waiting.unmet = now
                return StartState(float("inf"))
        return StartState(waiting.since, True)

    def _find_patience(self, process: Process, need: Need, lanes: tuple[ConnectionLane, ...]) -> float:
        """Return how long a process waits for a callee; one that would not notices late that it gets no answer."""
        if need.wait_seconds < 0.0:
            return float("inf")
        if need.wait_seconds:
            return need.wait_seconds
        if all(lane.outcome == ConnectionOutcome.DNS_TIMEOUT for lane in lanes):
            return max(lane.resolve_seconds for lane in lanes)
        if any(lane.outcome != ConnectionOutcome.CONNECTION_TIMEOUT for lane in lanes):
            return 0.0
        edge = self._edges[process.component, need.callee]
        if edge.connect_timeout_seconds < 0.0:
            return edge.connect_attempts * (edge.timeout_seconds or CONNECT_SECONDS)
        if edge.protocol == "grpc":
            return find_channel_timeout(edge, process.dialect)
        return edge.connect_timeout_seconds or CONNECT_SECONDS

    def _put(self, process: Process, need: Need, words: str) -> str:
        address = read_address(self._edges[process.component, need.callee].address, process)
        text = need.text.replace("{cause}", words)
        return text.replace("{host}", address.host).replace("{port}", str(address.port))

    def _lanes(self, process: Process, need: Need, network: Network) -> tuple[tuple[ConnectionLane, ...], str]:
        """Return the lanes to the callee, and the error for a failure."""
        edge = self._edges[process.component, need.callee]
        address = read_address(edge.address, process)
        if need.resolve_only and network.lookup(process.pod, address.host, address.port).resolved:
            return (ConnectionLane(ConnectionOutcome.OK),), ""
        lanes, ip = dial(edge, address, process, network)
        return lanes, _format_failure(process, edge, lanes, ip)


def _is_login_refused(lanes: tuple[ConnectionLane, ...], now: float) -> bool:
    """Return whether the callee rejects the login, which is no reason to wait for its start."""
    return bool(lanes) and all(
        lane.outcome in (ConnectionOutcome.AUTHENTICATION_FAILED, ConnectionOutcome.LOGIN_NOT_PERMITTED)
        and lane.ready_at <= now
        for lane in lanes
    )


def _format_failure(process: Process, edge: Edge, lanes: tuple[ConnectionLane, ...], ip: str) -> str:
    address = read_address(edge.address, process)
    outcome = ConnectionOutcome.CONNECTION_REFUSED if lanes[0].outcome == ConnectionOutcome.OK else lanes[0].outcome
    host, port, user, database = address.host, address.port, address.user, address.desired
    product = edge.product or edge.protocol
    return describe_cause(process.dialect, outcome, product, host=host, port=port, ip=ip, user=user, database=database)
