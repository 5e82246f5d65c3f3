"""Dialling: what an attempt to open a connection would meet now, from the address that a program has read.

What becomes of open connections is elsewhere (``connections``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from scenario_kit.lab.twin.address import Address, parse
from scenario_kit.lab.twin.network.endpoints import Destination, Network, Wire
from scenario_kit.lab.twin.network.lost_queries import NameResolution, list_resolutions
from scenario_kit.lab.twin.network.name_queries import measure_failure, measure_resolution
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.model.twin.address import AddressSource
from scenario_kit.model.twin.edge import Edge

_VARIABLE = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")


class ConnectionLane(NamedTuple):
    """One path for calls. Calls before ``ready_at`` are refused; hanging ones fail at ``fails_at``.

    ``rejected``: refused by the kernel, which answers only some of many dials. ``front`` is where packets are addressed
    to, if not to the target itself. ``resolve_seconds``: how long the name takes, until it resolves or fails;
    ``resolutions`` are the courses of that where queries are lost.
    """

    outcome: ConnectionOutcome
    target: Process | None = None
    wire: Wire | None = None
    ready_at: float = 0.0
    fails_at: float = float("inf")
    port: int = 0
    rejected: bool = False
    front: Destination | None = None
    resolve_seconds: float = 0.0
    resolutions: tuple[NameResolution, ...] = ()

    @property
    def unanswered(self) -> bool:
        """Whether nothing answers the attempt to connect, or to resolve the name, so that the caller waits."""
        nameless = self.outcome in (ConnectionOutcome.DNS_TIMEOUT, ConnectionOutcome.NXDOMAIN)
        unresolved = nameless and self.resolve_seconds > 0.0
        return unresolved or self.outcome == ConnectionOutcome.CONNECTION_TIMEOUT


def read_address(source: AddressSource, process: Process) -> Address:
    """Return the address that a process read from its environment or configuration file at its start."""
    if source.host_key and process.config is not None:
        host, port = process.config.get(source.host_key, ""), process.config.get(source.port_key, "")
        return parse(f"{host}:{port}" if host and port else host, source.default_port)
    if source.host_env:
        port = process.env.get(source.port_env, "") if source.port_env else ""
        host = process.env.get(source.host_env, "")
        return parse(f"{host}:{port}" if port else host, source.default_port)
    text = process.env.get(source.env, "") if source.env else _fill_text(source.text, process.env)
    if source.key and process.config is not None:
        text = process.config.get(source.key, "")
    return parse(text, source.default_port)


def _fill_text(text: str, env: Mapping[str, str]) -> str:
    """Replace variables in a text, as a program assembles its address."""
    return _VARIABLE.sub(lambda name: env.get(name[1], ""), text)


def dial(edge: Edge, address: Address, caller: Process, network: Network) -> tuple[tuple[ConnectionLane, ...], str]:
    """Return the possible lanes of a new connection, and the address that the host's name resolves to."""
    found = network.lookup(caller.pod, address.host, address.port, _find_transport(edge))
    resolve_seconds = _measure_resolution(edge, address.host, caller, network, silent=found.silent)
    if resolve_seconds is None:
        namespace = network.find_namespace(caller.pod)
        resolve_seconds = measure_failure(address.host, namespace, caller.resolver)
        return (ConnectionLane(ConnectionOutcome.DNS_TIMEOUT, resolve_seconds=resolve_seconds),), ""
    if found.outcome != ConnectionOutcome.OK:
        return (
            ConnectionLane(found.outcome, rejected=found.outcome == ConnectionOutcome.CONNECTION_REFUSED),
        ), found.ip
    front = Destination(found.ip, address.port)
    places = found.destinations
    if found.sticky:
        places = (places[caller.ordinal % len(places)],)
    lanes = tuple(reach(edge, address, caller, network, place, front) for place in places)
    if resolve_seconds:
        lanes = tuple(lane._replace(resolve_seconds=resolve_seconds) for lane in lanes)
    if resolutions := _list_resolutions(edge, address.host, caller, network):
        lanes = tuple(lane._replace(resolutions=resolutions) for lane in lanes)
    return lanes, found.ip


def _measure_resolution(edge: Edge, host: str, caller: Process, network: Network, *, silent: bool) -> float | None:
    """Return the seconds that chaos adds to the resolution of a name; None if it fails, without an answer."""
    if silent:
        return None
    path = network.find_query_path(caller.pod)
    if edge.use_stale_address or not path.delay or not network.needs_query(caller.pod, host):
        return 0.0
    return measure_resolution(host, network.find_namespace(caller.pod), caller.resolver, path)


def _list_resolutions(edge: Edge, host: str, caller: Process, network: Network) -> tuple[NameResolution, ...]:
    """List the courses of a resolution whose queries may be lost; none if all get through."""
    path = network.find_query_path(caller.pod)
    if edge.use_stale_address or not path.loss or not network.needs_query(caller.pod, host):
        return ()
    return list_resolutions(host, network.find_namespace(caller.pod), caller.resolver, path)


def reach(
    edge: Edge, address: Address, caller: Process, network: Network, place: Destination, front: Destination | None
) -> ConnectionLane:
    """Return the lane of a new connection to one destination, whose packets are addressed to ``front``."""
    pod = network.pod_at(place.ip)
    if pod is None:
        return ConnectionLane(ConnectionOutcome.CONNECTION_TIMEOUT, port=place.port)
    wire = network.wire(caller, pod, place.port, _find_transport(edge), front=front)
    target = network.listener(place)
    handshake = sum(shape.delay for shape in (wire.out, wire.back) if shape is not None)
    if wire.cut or 0.0 < edge.connect_timeout_seconds <= handshake:
        return ConnectionLane(ConnectionOutcome.CONNECTION_TIMEOUT, None, wire, port=place.port)
    if target is None or target.ended:
        return ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED)
    outcome = greet(edge, target, place.port, network)
    if outcome == ConnectionOutcome.OK and address.tls:
        outcome = ConnectionOutcome.TLS_MISMATCH
    if outcome == ConnectionOutcome.OK and target.logins and (address.user, address.password) not in target.logins:
        outcome = (
            ConnectionOutcome.LOGIN_NOT_PERMITTED
            if address.user in target.store_state.barred
            else ConnectionOutcome.AUTHENTICATION_FAILED
        )
    elif (
        outcome == ConnectionOutcome.OK
        and target.databases
        and address.desired
        and address.desired not in target.databases
    ):
        outcome = ConnectionOutcome.UNKNOWN_DATABASE
    elif outcome == ConnectionOutcome.OK and target.store_state.full:
        outcome = ConnectionOutcome.TOO_MANY_CONNECTIONS
    if wire.stalled:
        outcome = ConnectionOutcome.CONNECTION_TIMEOUT
    return ConnectionLane(outcome, target, wire, target.ready_at, port=place.port, front=front)


def _find_transport(edge: Edge) -> str:
    return "UDP" if edge.protocol == "udp" else "TCP"


def greet(edge: Edge, target: Process, port: int, network: Network) -> ConnectionOutcome:
    """Return whether the callee is the expected program, or an equivalent one.

    A registry that is queried for the callee's address is not the callee: the caller speaks HTTP to it.
    """
    listener = target.listener(port)
    if edge.registry and target.component == edge.registry:
        return ConnectionOutcome.OK
    program = network.program(edge.callee)
    same = target.component == edge.callee or (program and target.program == program)
    return (
        ConnectionOutcome.OK
        if same and listener is not None and listener.protocol in (edge.protocol, "tcp")
        else ConnectionOutcome.PROTOCOL_MISMATCH
    )
