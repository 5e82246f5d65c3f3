"""Pooled connections: gradual renewal, and rotation over registered instances."""

from typing import Any

import pytest

from scenario_kit.lab.twin.network.dialling import ConnectionLane
from scenario_kit.lab.twin.network.endpoints import Destination, Wire
from scenario_kit.lab.twin.network.http_chaos import HttpRule
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model import ContainerEffect, NetworkEffect
from scenario_kit.model.twin.decode import decode
from scenario_kit.model.twin.definition import TwinDefinition
from tests.lab.twin.dialling import ADDRESS, PORT, Surroundings, between, edge, process
from tests.lab.twin.net import policy

IP = "10.0.0.2"


def test_pool_of_http_meets_the_new_state_within_a_minute() -> None:
    around, there = between("http")
    link = around.link(0.0)
    assert (link.old, [lane.target for lane in link.lanes]) == ((), [there])
    fresh = process("fresh", "10.0.0.3", protocol="http")
    around.processes.append(fresh)
    around.behind[:] = [fresh]
    for start in (15.0, 30.0, 60.0):
        link = around.link(start)
        assert [lane.target for lane in link.lanes] == [fresh]
        assert link.old == (ConnectionLane(ConnectionOutcome.OK, there, Wire(cut=False), 0.0, port=PORT),)
        assert (link.old_from, link.old_until) == (15.0, 75.0)
    assert around.link(75.0).old == ()
    around.behind[:] = [there]
    link = around.link(90.0)
    assert ([lane.target for lane in link.old], link.old_from) == ([fresh], 90.0), "a minute again"


def test_pool_drops_old_connections_the_network_no_longer_offers() -> None:
    around, _ = between("http")
    around.link(0.0)
    around.start(process("more", "10.0.0.3", protocol="http"))
    link = around.link(15.0)
    assert (len(link.lanes), link.old) == (2, ())


@pytest.mark.parametrize("refused", [True, False])
def test_pooled_connections_outlive_service_but_not_process(refused: bool) -> None:
    around, there = between("http")
    around.link(0.0)
    around.behind.clear()
    around.served = refused
    link = around.link(15.0)
    assert link.lanes[0].outcome == (ConnectionOutcome.CONNECTION_REFUSED if refused else ConnectionOutcome.NXDOMAIN)
    assert [lane.target for lane in link.old] == [there]
    around.end(there)
    assert around.link(30.0).old == ()


def test_ended_process_has_no_pooled_connections() -> None:
    around, there = between("http")
    around.link(0.0)
    around.behind.clear()
    there.ended = True
    assert around.link(15.0).old == ()


def test_partitioned_pool_connection_hangs() -> None:
    around, there = between("http")
    around.link(0.0)
    around.behind.clear()
    around.cut()
    assert around.link(15.0).old == (
        ConnectionLane(ConnectionOutcome.CONNECTION_TIMEOUT, there, Wire(cut=True), 0.0, port=PORT),
    )


def test_pool_to_replaced_process_is_foreign() -> None:
    around, there = between("http")
    around.link(0.0)
    around.behind.clear()
    there.component = "other"
    assert [lane.outcome for lane in around.link(15.0).old] == [ConnectionOutcome.PROTOCOL_MISMATCH]


def proxy(name: str = "there") -> tuple[ContainerEffect, ...]:
    """A proxy in front of that process that breaks off every request."""
    rule = {"target": "Request", "selector": {"port": PORT}, "actions": {"abort": True}}
    reported = {"proxyPorts": [PORT], "tls": False, "rules": [rule]}
    return (ContainerEffect(pod_uid=name, container_id=f"containerd://{name}", kind="HTTP", arguments=reported),)


ABORT = (HttpRule(False, abort=True),)


def open_lane(target: Any, wire: Wire) -> ConnectionLane:
    """A new connection through the Service."""
    return ConnectionLane(ConnectionOutcome.OK, target, wire, 0.0, port=PORT, front=Destination(ADDRESS, PORT))


def test_proxy_misses_connections_older_than_itself() -> None:
    around, there = between("http")
    around.link(0.0)
    around.proxies = proxy()
    link = around.link(15.0)
    assert link.lanes == (open_lane(there, Wire(False, rules=ABORT)),)
    assert link.old == (ConnectionLane(ConnectionOutcome.OK, there, Wire(False), 0.0, port=PORT),)


def test_connections_through_a_proxy_end_with_the_proxy() -> None:
    around, there = between("http")
    around.proxies = proxy()
    assert around.link(0.0).lanes == (open_lane(there, Wire(False, rules=ABORT)),)
    around.proxies = ()
    link = around.link(15.0)
    assert (link.lanes, link.old) == ((open_lane(there, Wire(False)),), ())


def test_policy_is_about_the_port_of_a_connection_of_a_pool() -> None:
    around, _ = between("http")
    around.link(0.0)
    around.behind.clear()
    for port, outcome in ((PORT, ConnectionOutcome.OK), (PORT + 1, ConnectionOutcome.CONNECTION_TIMEOUT)):
        around.more = (policy("a", "there", policyTypes=["Ingress"], ingress=[{"ports": [{"port": port}]}]),)
        assert [lane.outcome for lane in around.link(15.0).old] == [outcome]


def test_pool_connection_is_ready_with_its_process() -> None:
    around, there = between("http")
    there.ready_at = 20.0
    around.link(0.0)
    around.behind.clear()
    assert [lane.ready_at for lane in around.link(15.0).old] == [20.0]


REGISTRY = {
    "components": {"consul": {"image": "consul"}},
    "load": {"component": "a", "entry": "b/x", "users": {}, "routes": {}},
    "registries": [{"component": "consul", "resolveSeconds": 10}],
}


@pytest.fixture
def registry() -> TwinDefinition:
    return decode(REGISTRY)


def build_registered(registry: TwinDefinition, *names: str, **fields: Any) -> tuple[Surroundings, Any, list[Any]]:
    """A caller that looks up the callee in a registry, and registered processes."""
    consul = process("consul", IP, "consul", "http")
    around = Surroundings(edge(registry="consul", name="srv", **fields), consul, parameters=registry)
    those = [process(name, f"10.0.1.{i}") for i, name in enumerate(names, 1)]
    around.processes += those
    for one in those:
        around.registries.announce(consul, "srv", one)
    return around, consul, those


def test_calls_rotate_over_registered_instances(registry: TwinDefinition) -> None:
    around, _, those = build_registered(registry, "one", "two")
    lanes = around.link(0.0).lanes
    assert [(lane.outcome, lane.target) for lane in lanes] == [(ConnectionOutcome.OK, one) for one in those]


def test_caller_of_empty_registry_has_no_address(registry: TwinDefinition) -> None:
    around, _, _ = build_registered(registry)
    assert around.link(0.0).lanes == (ConnectionLane(ConnectionOutcome.NO_ADDRESSES),)


def test_dead_registered_peers_are_skipped_while_others_live(registry: TwinDefinition) -> None:
    around, _, those = build_registered(registry, "one", "two")
    around.link(0.0)
    around.end(those[0])
    assert [lane.target for lane in around.link(15.0).lanes] == [those[1]]
    around.end(those[1])
    lanes = around.link(30.0).lanes
    assert [lane.outcome for lane in lanes] == [ConnectionOutcome.CONNECTION_TIMEOUT], "nobody has the address any more"


def test_callers_keep_known_instances_without_registry(registry: TwinDefinition) -> None:
    around, consul, those = build_registered(registry, "one")
    around.link(0.0)
    around.end(consul)
    link = around.link(15.0)
    assert [lane.target for lane in link.lanes] == those


def test_registry_is_queried_once_it_listens(registry: TwinDefinition) -> None:
    around, consul, _ = build_registered(registry, "one")
    consul.ready_at = 20.0
    assert around.link(15.0).lanes == (ConnectionLane(ConnectionOutcome.NO_ADDRESSES),)
    assert around.link(30.0).lanes[0].outcome == ConnectionOutcome.OK


def test_pending_connection_is_used_if_none_is_established(registry: TwinDefinition) -> None:
    around, _, (one, two) = build_registered(registry, "one", "two")
    one.ready_at, two.ready_at = 5.0, 10.0
    assert [lane.ready_at for lane in around.link(0.0).lanes] == [5.0, 10.0]
    assert [lane.ready_at for lane in around.link(15.0).lanes] == [0.0, 0.0]


def test_established_connections_precede_pending_ones(registry: TwinDefinition) -> None:
    around, _, (_, two) = build_registered(registry, "one", "two")
    two.ready_at = 10.0
    assert [lane.ready_at for lane in around.link(0.0).lanes] == [0.0]


def test_connection_to_registered_address_times_out(registry: TwinDefinition) -> None:
    around, _, (one,) = build_registered(registry, "one", keepalive_timeout_seconds=45.0)
    around.link(0.0)
    around.effects = (NetworkEffect(pod_uid="one", direction="INPUT", drop=True),)
    assert [around.link(start).lanes[0].target for start in (15.0, 45.0, 60.0)] == [one, one, None]


def test_registry_is_queried_for_the_edges_name(registry: TwinDefinition) -> None:
    around, consul, _ = build_registered(registry)
    other = process("other", "10.0.1.9")
    around.processes.append(other)
    around.registries.announce(consul, "another", other)
    assert around.link(0.0).lanes == (ConnectionLane(ConnectionOutcome.NO_ADDRESSES),)


def test_new_registry_is_trusted_after_a_while(registry: TwinDefinition) -> None:
    around, consul, those = build_registered(registry, "one")
    around.link(0.0)
    around.end(consul)
    around.start(process("fresh", IP, "consul", "http"))
    assert [lane.target for lane in around.link(15.0, 20.0).lanes] == those
    assert [lane.target for lane in around.link(20.0, 25.0).lanes] == those
    assert around.link(25.0).lanes == (ConnectionLane(ConnectionOutcome.NO_ADDRESSES),)
