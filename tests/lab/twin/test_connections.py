"""Connections outlive what helped to open them (docs/fidelity.md): tables over time."""

from typing import Any

import pytest

from scenario_kit.lab.twin.network.dialling import ConnectionLane
from scenario_kit.lab.twin.network.endpoints import Destination, Wire
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from tests.lab.twin.dialling import ADDRESS, CALLEE, PORT, Surroundings, between, edge, process
from tests.lab.twin.net import endpoint, endpoints, policy, service

IP = "10.0.0.2"
CHANNELS = ["grpc", "sql", "redis", "mongodb", "kafka", "tcp"]


@pytest.mark.parametrize("protocol", CHANNELS)
def test_channel_keeps_its_peer_despite_service_changes(protocol: str) -> None:
    around, there = between(protocol)
    opened = around.lane(0.0)
    around.behind.clear()
    front = Destination(ADDRESS, PORT)
    expected = ConnectionLane(ConnectionOutcome.OK, there, Wire(cut=False), 0.0, port=PORT, front=front)
    assert around.lane(15.0) == opened == expected
    around.served = False
    assert around.lane(10_000.0).target is there
    assert around.link(10_015.0).lanes[0].outcome == ConnectionOutcome.OK


def test_new_connection_sees_current_state() -> None:
    around, there = between("sql", reuse_connection=False)
    assert around.lane(0.0).target is there
    around.behind.clear()
    assert around.lane(15.0) == ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED, rejected=True)


def test_redirect_dials_other_host_and_keeps_channel() -> None:
    around, there = between()
    other = process("other", "10.0.0.3")
    around.processes.append(other)
    assert around.lane(0.0).target is there
    assert around.lane(15.0, redirect="10.0.0.3:7000").target is other
    assert around.lane(15.0, redirect="10.0.0.3").outcome == ConnectionOutcome.NXDOMAIN, "nobody says which port"
    assert around.lane(30.0).target is there


def test_redirect_without_port_uses_default_port() -> None:
    around, there = between(default_port=PORT)
    assert around.lane(0.0, redirect="10.0.0.2").target is there


@pytest.mark.parametrize(
    "fields", [{"reuse_connection": False}, {"protocol": "http"}, {}, {"registry": "consul", "name": "srv"}]
)
def test_link_has_edge_and_address_target(fields: Any) -> None:
    around, _ = between(**fields)
    link = around.link(0.0)
    assert (link.key.process, link.key.edge) == (around.caller.key, 0)
    assert (link.address.host, link.address.port, link.ip) == (CALLEE, PORT, ADDRESS)


@pytest.mark.parametrize(
    ("port", "outcome"), [(PORT, ConnectionOutcome.OK), (PORT + 1, ConnectionOutcome.CONNECTION_TIMEOUT)]
)
@pytest.mark.parametrize("fields", [{"protocol": "sql", "reuse_connection": False}, {"protocol": "sql"}])
def test_policy_is_about_the_port_of_the_connection(fields: Any, port: int, outcome: ConnectionOutcome) -> None:
    around, _ = between(**fields)
    assert around.lane(0.0).outcome == ConnectionOutcome.OK
    around.more = (policy("a", "there", policyTypes=["Ingress"], ingress=[{"ports": [{"port": port}]}]),)
    assert around.lane(15.0).outcome == outcome


def test_ended_peer_is_redialled() -> None:
    around, there = between("sql")
    around.lane(0.0)
    around.end(there)
    assert around.lane(15.0) == ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED, rejected=True)
    again = process("again", IP, protocol="sql", ready_at=40.0)
    around.start(again)
    assert around.lane(15.0, 30.0) == ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED), "it does not listen yet"
    front = Destination(ADDRESS, PORT)
    expected = ConnectionLane(ConnectionOutcome.OK, again, Wire(cut=False), 40.0, port=PORT, front=front)
    assert around.lane(30.0, 45.0) == expected
    assert around.lane(45.0).ready_at == 0.0


def test_ended_process_is_no_peer_while_still_listed() -> None:
    around, there = between("sql")
    around.lane(0.0)
    there.ended = True
    around.connections.redial()
    assert around.lane(15.0) == ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED)


@pytest.mark.parametrize(("outage", "longest"), [(30.0, 30.0), (60.0, 60.0), (900.0, 120.0)])
def test_grpc_channel_recovers_within_outage_duration(outage: float, longest: float) -> None:
    """Its back-off is as long as the outage was, two minutes at most (docs/fidelity.md)."""
    found = set()
    for ordinal in range(60):
        around, there = between()
        around.caller.ordinal = ordinal
        around.lane(0.0)
        around.end(there)
        assert around.lane(15.0).outcome == ConnectionOutcome.CONNECTION_REFUSED
        around.start(process("again", IP))
        back, start = None, 15.0 + outage
        while back is None:
            lane = around.lane(start)
            assert (lane.outcome == ConnectionOutcome.OK) or lane == ConnectionLane(
                ConnectionOutcome.CONNECTION_REFUSED, ready_at=0.0
            )
            back = lane if lane.outcome == ConnectionOutcome.OK else None
            start += 15.0
        found.add(back.ready_at - 15.0 - outage)
    assert 0.0 <= min(found) < 0.2 * longest
    assert 0.8 * longest < max(found) <= longest


def test_only_grpc_backs_off() -> None:
    around, there = between("sql")
    around.lane(0.0)
    around.end(there)
    around.lane(15.0)
    around.start(process("again", IP, protocol="sql"))
    assert around.lane(600.0).ready_at == 0.0


def test_first_channel_opens_immediately() -> None:
    around, _ = between()
    assert around.lane(0.0).ready_at == 0.0


def test_unopened_channel_backs_off_too() -> None:
    opened = []
    for ordinal in range(20):
        around = Surroundings(edge())
        around.caller.ordinal = ordinal
        for start in range(0, 60, 15):
            assert around.lane(float(start)).outcome == ConnectionOutcome.CONNECTION_REFUSED
        around.start(process("there", IP))
        start = 60
        while (lane := around.lane(float(start))).outcome != ConnectionOutcome.OK:
            start += 15
        opened.append(lane.ready_at - 60.0)
    assert max(opened) > 30.0
    assert max(opened) <= 60.0


def test_back_off_starts_when_callee_returns() -> None:
    """The back-off does not depend on how often the channel is observed."""
    at = []
    for step in (5.0, 15.0):
        around, there = between()
        around.caller.ordinal = 7
        around.lane(0.0, step)
        around.end(there)
        start = 15.0
        while start < 120.0:
            around.lane(start, start + step)
            start += step
        around.start(process("again", IP))
        while (lane := around.lane(start, start + step)).outcome != ConnectionOutcome.OK:
            start += step
        at.append(lane.ready_at)
    assert at[0] == at[1]


def test_repeated_outage_restarts_back_off() -> None:
    around, there = between()
    around.lane(0.0)
    around.end(there)
    around.lane(15.0)
    back = process("back", IP)
    around.start(back)
    for start in range(300, 900, 15):
        around.lane(float(start))
    around.end(back)
    assert around.lane(900.0).outcome == ConnectionOutcome.CONNECTION_REFUSED
    around.start(process("again", IP))
    lanes = [around.lane(900.0 + start) for start in (15.0, 30.0, 45.0)]
    assert lanes[1].outcome == ConnectionOutcome.OK, "the second outage was of 15 s"


@pytest.mark.parametrize("protocol", CHANNELS)
def test_calls_hang_while_a_channel_is_partitioned(protocol: str) -> None:
    around, there = between(protocol)
    around.lane(0.0)
    around.cut()
    for start in (15.0, 300.0, 600.0):
        assert around.lane(start) == ConnectionLane(
            ConnectionOutcome.CONNECTION_TIMEOUT, there, Wire(cut=True), port=PORT
        )
    around.cut(whole=False)
    assert around.lane(615.0).outcome == ConnectionOutcome.OK
    around.cut()
    assert around.lane(630.0).outcome == ConnectionOutcome.CONNECTION_TIMEOUT
    assert around.lane(1500.0).target is there, "the second cut counts from its own beginning"


@pytest.mark.parametrize(
    ("silent", "stands", "broken"), [(0.0, 885.0, 900.0), (45.0, 30.0, 45.0), (1000.0, 990.0, 1005.0)]
)
def test_partitioned_connection_times_out(silent: float, stands: float, broken: float) -> None:
    """By the system after 15 minutes, or by the client's own limit."""
    around, there = between("sql", keepalive_timeout_seconds=silent)
    around.lane(0.0)
    around.cut()
    around.lane(15.0)
    assert around.lane(15.0 + stands - 15.0, 15.0 + stands).target is there
    lane = around.lane(15.0 + broken, 15.0 + broken + 15.0)
    assert (lane.outcome, lane.target) == (ConnectionOutcome.CONNECTION_TIMEOUT, None), "a dial is dropped as well"
    around.cut(whole=False)
    assert around.lane(15.0 + broken + 15.0).outcome == ConnectionOutcome.OK


def test_the_last_instant_of_a_cut_connection() -> None:
    for end, stands in ((915.0, True), (915.1, False)):
        around, there = between("sql")
        around.lane(0.0)
        around.cut()
        around.lane(15.0)
        assert (around.lane(900.0, end).target is there) is stands


def test_peer_lost_behind_a_partition_breaks_at_its_start() -> None:
    """So that the back-off of gRPC is as long as callers went without."""
    around, there = between()
    around.caller.ordinal = 3
    around.lane(0.0)
    around.cut()
    around.lane(15.0)
    around.end(there)
    around.lane(75.0)
    around.cut(whole=False)
    around.start(process("again", IP))
    start = 90.0
    while (lane := around.lane(start)).outcome != ConnectionOutcome.OK:
        start += 15.0
    other, there = between()
    other.caller.ordinal = 3
    other.lane(0.0)
    other.end(there)
    other.lane(15.0)
    other.start(process("again", IP))
    start = 90.0
    while (same := other.lane(start)).outcome != ConnectionOutcome.OK:
        start += 15.0
    assert lane.ready_at == same.ready_at


def test_grpc_channel_hangs_for_20_s_then_fails_fast() -> None:
    around, _ = between()
    around.cut()
    for start in (0.0, 15.0, 30.0):
        lane = around.lane(start)
        assert (lane.outcome, lane.fails_at) == (ConnectionOutcome.CONNECTION_TIMEOUT, 20.0)
    around.served = False
    assert around.lane(45.0).outcome == ConnectionOutcome.NXDOMAIN
    around.served = True
    assert around.lane(60.0).fails_at == 80.0, "it was refused in between"


def test_dials_without_timeout_hang_indefinitely() -> None:
    around, _ = between("sql")
    around.cut()
    assert around.lane(0.0).fails_at == around.lane(15.0).fails_at == float("inf")


def test_dial_hangs_on_lossy_backend_while_others_refuse() -> None:
    around = Surroundings(edge("sql"), process("one", IP, port=0), process("two", "10.0.0.9", protocol="sql"))
    around.processes.pop()
    assert around.lane(0.0).outcome == ConnectionOutcome.CONNECTION_TIMEOUT


def test_channel_keeps_its_chosen_backend() -> None:
    first = []
    for ordinal in range(40):
        around = Surroundings(edge(), *(process(f"p{i}", f"10.0.0.{i}") for i in range(2, 5)))
        around.caller.ordinal = ordinal
        lane = around.lane(0.0)
        assert {around.lane(15.0 * i).target for i in range(1, 5)} == {lane.target}
        first.append(lane.target.name if lane.target else "")
    assert {name: first.count(name) > 4 for name in set(first)} == {"p2": True, "p3": True, "p4": True}


def test_each_connection_chooses_a_backend() -> None:
    chosen = set()
    around = Surroundings(edge("sql"))
    for run in range(30):
        for i in range(2, 5):
            around.start(process(f"p{i}-{run}", f"10.0.0.{i}", protocol="sql"))
        target = around.lane(15.0 * run).target
        assert target is not None
        chosen.add(target.ip)
        for one in list(around.behind):
            around.end(one)
    assert chosen == {"10.0.0.2", "10.0.0.3", "10.0.0.4"}


def test_only_listening_backends_are_chosen() -> None:
    late = process("p3", "10.0.0.3", protocol="sql", ready_at=100.0)
    around = Surroundings(edge("sql"), process("p2", IP, port=0), late)
    assert around.lane(0.0) == ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED)
    around.start(process("p4", "10.0.0.4", protocol="sql"))
    lane = around.lane(15.0)
    assert lane.target is not None
    assert lane.target.name == "p4"


@pytest.mark.parametrize(
    ("component", "protocol", "stays"),
    [
        ("store", "grpc", True),
        ("other", "grpc", True),  # it speaks the protocol, and answers every call with an error
        ("other", "http", False),
        ("other", "tcp", False),
    ],
)
def test_foreign_program_on_the_port(component: str, protocol: str, stays: bool) -> None:
    """Connections need the protocol of the peer, and then persist (docs/fidelity.md)."""
    there = process("there", IP, component, protocol)
    around = Surroundings(edge(), there)
    first = around.lane(0.0)
    assert (first.outcome, first.target) == (
        ConnectionOutcome.OK if component == "store" else ConnectionOutcome.PROTOCOL_MISMATCH,
        there,
    )
    right = process("right", "10.0.0.3")
    around.processes.append(right)
    around.behind[:] = [right]
    lanes = [around.lane(15.0 * i) for i in range(1, 12)]
    assert (lanes[-1].target is there) is stays
    assert lanes[-1].outcome == (
        ConnectionOutcome.PROTOCOL_MISMATCH if component == "other" and stays else ConnectionOutcome.OK
    )


def test_port_taken_over_is_foreign_to_open_connections() -> None:
    around, there = between()
    around.lane(0.0)
    there.component = "other"
    assert around.lane(15.0) == ConnectionLane(
        ConnectionOutcome.PROTOCOL_MISMATCH, there, Wire(cut=False), 0.0, port=PORT, front=Destination(ADDRESS, PORT)
    )


def test_other_protocol_is_no_peer() -> None:
    around = Surroundings(edge(), process("there", IP, "other", "http"))
    assert around.lane(0.0).outcome == ConnectionOutcome.PROTOCOL_MISMATCH
    assert around.connections._states[around.link(15.0).key, None].peer is None


def test_datagrams_keep_their_first_resolved_address() -> None:
    around, there = between("udp")
    around.more = (
        service(CALLEE, ADDRESS, {"name": "p", "port": PORT, "protocol": "UDP"}),
        endpoints(CALLEE, endpoint(IP), p=PORT),
    )
    assert around.link(0.0).lanes[0].target is there
    assert around.link(0.0).ip == ADDRESS
    around.more = (service("other", ADDRESS, {"name": "p", "port": PORT, "protocol": "UDP"}),)
    around.served = False
    around.behind.clear()
    link = around.link(15.0)
    assert (link.lanes, link.ip) == ((ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED, rejected=True),), ADDRESS), (
        "the name is not asked for again"
    )


@pytest.mark.parametrize(
    ("remembers", "dns_policy", "outcome"),
    [
        (True, "None", ConnectionOutcome.OK),
        (False, "None", ConnectionOutcome.DNS_TIMEOUT),
        (True, "Default", ConnectionOutcome.NXDOMAIN),
        (True, "ClusterFirst", ConnectionOutcome.OK),
    ],
)
def test_stale_address_is_used_while_dns_fails(remembers: bool, dns_policy: str, outcome: ConnectionOutcome) -> None:
    """Only where the name server has no answer: that a name is none is an answer."""
    around, _ = between("sql", use_stale_address=remembers, reuse_connection=False)
    assert around.lane(0.0).outcome == ConnectionOutcome.OK
    around.caller.pod["spec"]["dnsPolicy"] = dns_policy
    assert around.lane(15.0).outcome == outcome
    assert around.link(15.0).address.host == CALLEE


def test_negative_dns_results_are_not_cached() -> None:
    around, _ = between("sql", use_stale_address=True, reuse_connection=False)
    around.caller.pod["spec"]["dnsPolicy"] = "None"
    assert around.lane(0.0).outcome == ConnectionOutcome.DNS_TIMEOUT
    around.caller.pod["spec"]["dnsPolicy"] = "ClusterFirst"
    assert around.lane(15.0).outcome == ConnectionOutcome.OK


def test_caller_state_is_removed_with_caller() -> None:
    around, there = between("udp", text=f"{IP}:{PORT}")
    around.link(0.0)
    assert around.connections._resolves
    around.connections.forget(around.process_table())
    assert around.connections._resolves
    stored, _ = between()
    stored.lane(0.0)
    stored.connections.forget(stored.process_table())
    stored.behind.clear()
    assert stored.lane(15.0).outcome == ConnectionOutcome.OK
    for one in (around, stored):
        one.processes.clear()
        one.caller.key = there.key
        one.connections.forget(one.process_table())
    assert not around.connections._resolves
    assert not stored.connections._states


def test_connection_outcome_is_computed_once_per_network() -> None:
    around, there = between("sql", reuse_connection=False)
    around.link(0.0)
    there.ended = True
    assert around.link(15.0, changed=False).lanes[0].outcome == ConnectionOutcome.OK
    around.connections.redial()
    assert around.link(15.0, changed=False).lanes[0].outcome == ConnectionOutcome.CONNECTION_REFUSED
