"""Outcomes of new connections: listener, protocol, and login."""

from typing import Any

import pytest

from scenario_kit.lab.twin.address import Address
from scenario_kit.lab.twin.network.connections import Link, LinkKey
from scenario_kit.lab.twin.network.dialling import ConnectionLane, dial, read_address
from scenario_kit.lab.twin.network.endpoints import Destination, Wire
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.lab.twin.process.store_state import StoreState
from scenario_kit.model.twin.address import AddressSource
from tests.lab.twin.dialling import ADDRESS, PORT, Surroundings, edge, process

IP = "10.0.0.2"


def dial_once(
    of: Any, target: Process, address: str = f"store:{PORT}", program: str = "", **more: Any
) -> ConnectionLane:
    around = Surroundings(of, target)
    around.programs = {of.callee: program}
    (lane,), ip = dial(of, _address(address, **more), around.caller, around.change())
    assert ip == ADDRESS
    return lane


def _address(text: str, **more: Any) -> Address:
    host, _, port = text.partition(":")
    return Address(host, int(port), **more)


@pytest.mark.parametrize(
    ("target", "protocol", "outcome"),
    [
        ({}, "grpc", ConnectionOutcome.OK),
        ({"protocol": "tcp"}, "grpc", ConnectionOutcome.OK),  # a program of which no more is known than that it listens
        ({"protocol": "http"}, "grpc", ConnectionOutcome.PROTOCOL_MISMATCH),
        ({"component": "other"}, "grpc", ConnectionOutcome.PROTOCOL_MISMATCH),
        ({"component": "other", "protocol": "http"}, "grpc", ConnectionOutcome.PROTOCOL_MISMATCH),
        ({"component": "", "protocol": "tcp"}, "grpc", ConnectionOutcome.PROTOCOL_MISMATCH),
        ({"component": "other", "program": "mysqld"}, "grpc", ConnectionOutcome.PROTOCOL_MISMATCH),
        ({"protocol": "sql"}, "sql", ConnectionOutcome.OK),
        ({"port": 7001}, "grpc", ConnectionOutcome.CONNECTION_REFUSED),
        ({"port": 0}, "grpc", ConnectionOutcome.CONNECTION_REFUSED),
        ({"ended": True}, "grpc", ConnectionOutcome.CONNECTION_REFUSED),
        ({"ready_at": 30.0}, "grpc", ConnectionOutcome.OK),
    ],
)
def test_dial_outcome_depends_on_the_listener(
    target: dict[str, Any], protocol: Any, outcome: ConnectionOutcome
) -> None:
    there = process("there", IP, **target)
    lane = dial_once(edge(protocol), there)
    if outcome == ConnectionOutcome.CONNECTION_REFUSED:
        assert lane == ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED)
    else:
        front = Destination(ADDRESS, PORT)
        assert lane == ConnectionLane(outcome, there, Wire(cut=False), there.ready_at, port=PORT, front=front)


@pytest.mark.parametrize(
    ("program", "component", "outcome"),
    [
        ("mongod", "store", ConnectionOutcome.OK),
        ("mongod", "other", ConnectionOutcome.OK),
        ("redis", "other", ConnectionOutcome.PROTOCOL_MISMATCH),
        ("redis", "store", ConnectionOutcome.OK),
    ],
)
def test_components_of_one_program_are_interchangeable(
    program: str, component: str, outcome: ConnectionOutcome
) -> None:
    there = process("there", IP, component, program=program)
    assert dial_once(edge(), there, program="mongod").outcome == outcome


@pytest.mark.parametrize(
    ("registry", "component", "protocol", "outcome"),
    [
        ("consul", "consul", "http", ConnectionOutcome.OK),
        ("consul", "other", "http", ConnectionOutcome.PROTOCOL_MISMATCH),
        ("consul", "store", "grpc", ConnectionOutcome.OK),
        ("", "consul", "http", ConnectionOutcome.PROTOCOL_MISMATCH),
    ],
)
def test_registry_may_answer_for_the_callee(
    registry: str, component: str, protocol: str, outcome: ConnectionOutcome
) -> None:
    assert dial_once(edge(registry=registry), process("there", IP, component, protocol)).outcome == outcome


@pytest.mark.parametrize(
    ("target", "requests", "outcome"),
    [
        ({}, {"tls": True}, ConnectionOutcome.TLS_MISMATCH),
        ({"component": "other"}, {"tls": True}, ConnectionOutcome.PROTOCOL_MISMATCH),
        ({"logins": (("me", "secret"),)}, {"user": "me", "password": "secret"}, ConnectionOutcome.OK),
        ({"logins": (("me", "secret"),)}, {"user": "me", "password": "wrong"}, ConnectionOutcome.AUTHENTICATION_FAILED),
        (
            {"logins": (("me", "secret"),)},
            {"user": "you", "password": "secret"},
            ConnectionOutcome.AUTHENTICATION_FAILED,
        ),
        ({"logins": (("me", "secret"),)}, {}, ConnectionOutcome.AUTHENTICATION_FAILED),
        (
            {"logins": (("me", "secret"),)},
            {"user": "me", "password": "secret", "tls": True},
            ConnectionOutcome.TLS_MISMATCH,
        ),
        ({"logins": (("me", "secret"),), "component": "other"}, {}, ConnectionOutcome.PROTOCOL_MISMATCH),
        ({"logins": ()}, {"user": "me", "password": "any"}, ConnectionOutcome.OK),
        ({"databases": frozenset({"shop"})}, {"database": "shop"}, ConnectionOutcome.OK),
        ({"databases": frozenset({"shop"})}, {"database": "shap"}, ConnectionOutcome.UNKNOWN_DATABASE),
        (
            {"databases": frozenset({"shop"})},
            {"user": "shop"},
            ConnectionOutcome.OK,
        ),  # the database called like the user
        ({"databases": frozenset({"shop"})}, {"user": "me"}, ConnectionOutcome.UNKNOWN_DATABASE),
        ({"databases": frozenset({"shop"})}, {}, ConnectionOutcome.OK),
        ({"databases": frozenset()}, {"database": "shop"}, ConnectionOutcome.OK),
        (
            {"databases": frozenset({"shop"}), "component": "other"},
            {"database": "shap"},
            ConnectionOutcome.PROTOCOL_MISMATCH,
        ),
        ({"store_state": StoreState(most=5, held=5.0)}, {}, ConnectionOutcome.TOO_MANY_CONNECTIONS),
        ({"store_state": StoreState(most=5, held=5.0), "component": "other"}, {}, ConnectionOutcome.PROTOCOL_MISMATCH),
        ({"store_state": StoreState(most=5, held=4.0)}, {}, ConnectionOutcome.OK),
        (
            {"store_state": StoreState(most=5, held=5.0), "logins": (("a", "b"),)},
            {"user": "a", "password": "b"},
            ConnectionOutcome.TOO_MANY_CONNECTIONS,
        ),
        (
            {"store_state": StoreState(barred={"me": "x"}), "logins": (("a", "b"),)},
            {"user": "me"},
            ConnectionOutcome.LOGIN_NOT_PERMITTED,
        ),
        (
            {"store_state": StoreState(barred={"me": "x"}), "logins": (("a", "b"),)},
            {"user": "you"},
            ConnectionOutcome.AUTHENTICATION_FAILED,
        ),
    ],
)
def test_store_login_outcome_depends_on_credentials_and_tls(
    target: dict[str, Any], requests: dict[str, Any], outcome: ConnectionOutcome
) -> None:
    there = process("there", IP, **{"protocol": "sql", **target})
    lane = dial_once(edge("sql"), there, **requests)
    assert (lane.outcome, lane.target) == (outcome, there)


@pytest.mark.parametrize(
    ("host", "expected", "ip"),
    [
        ("absent", ConnectionLane(ConnectionOutcome.NXDOMAIN), ""),
        ("10.0.0.77", ConnectionLane(ConnectionOutcome.CONNECTION_TIMEOUT), "10.0.0.77"),
        (
            "store",
            ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED, rejected=True),
            ADDRESS,
        ),  # kube-proxy says so, which it does to few of many
    ],
)
def test_dial_without_listener_fails(host: str, expected: ConnectionLane, ip: str) -> None:
    around = Surroundings(edge())
    assert dial(around.edge, Address(host, PORT), around.caller, around.change()) == ((expected,), ip)


def test_dial_to_an_orphaned_endpoint_times_out() -> None:
    gone = process("gone", "10.0.0.9")
    around = Surroundings(edge(), gone)
    around.processes.clear()
    lanes, _ = dial(around.edge, Address("store", PORT), around.caller, around.change())
    assert lanes == (ConnectionLane(ConnectionOutcome.CONNECTION_TIMEOUT, port=PORT),)


def test_cut_wire_times_out_regardless_of_listener() -> None:
    around = Surroundings(edge(), process("there", IP))
    around.cut()
    lanes, _ = dial(around.edge, Address("store", PORT), around.caller, around.change())
    assert lanes == (ConnectionLane(ConnectionOutcome.CONNECTION_TIMEOUT, None, Wire(cut=True), port=PORT),)


def test_each_backend_is_a_lane() -> None:
    one, two = process("one", IP), process("two", "10.0.0.3", "other", ready_at=9.0)
    around = Surroundings(edge(), one, two)
    lanes, _ = dial(around.edge, Address("store", PORT), around.caller, around.change())
    assert [(lane.outcome, lane.target, lane.ready_at) for lane in lanes] == [
        (ConnectionOutcome.OK, one, 0.0),
        (ConnectionOutcome.PROTOCOL_MISMATCH, two, 9.0),
    ]


def test_datagrams_use_the_udp_port() -> None:
    around = Surroundings(edge("udp"), process("there", IP, protocol="udp"))
    lanes, _ = dial(around.edge, Address("store", PORT), around.caller, around.change())
    assert lanes == (ConnectionLane(ConnectionOutcome.CONNECTION_TIMEOUT),), "the Service has the port for TCP alone"
    (lane,), _ = dial(around.edge, Address(IP, PORT), around.caller, around.change())
    assert lane.outcome == ConnectionOutcome.OK


@pytest.mark.parametrize(
    ("source", "env", "config", "expected"),
    [
        ({"env": "STORE"}, {"STORE": "store:1"}, None, Address("store", 1)),
        ({"env": "STORE", "default_port": 2}, {"STORE": "store"}, None, Address("store", 2)),
        ({"env": "STORE", "text": "unused:3"}, {}, None, Address("")),
        ({"host_env": "HOST", "port_env": "PORT"}, {"HOST": "store", "PORT": "4"}, None, Address("store", 4)),
        ({"host_env": "HOST", "port_env": "PORT", "default_port": 5}, {"HOST": "store"}, None, Address("store", 5)),
        ({"host_env": "HOST", "default_port": 5}, {"HOST": "store", "": "6"}, None, Address("store", 5)),
        ({"host_env": "HOST", "port_env": "PORT"}, {"PORT": "4"}, None, Address("", 4)),
        ({"host_env": "HOST", "env": "STORE"}, {"HOST": "a:1", "STORE": "b:2"}, None, Address("a", 1)),
        ({"key": "addr", "text": "image:7"}, {}, {"addr": "store:8"}, Address("store", 8)),
        ({"key": "addr", "default_port": 9}, {}, {"addr": "store"}, Address("store", 9)),
        ({"key": "addr", "text": "image:7"}, {}, None, Address("image", 7)),
        ({"key": "addr", "text": "image:7"}, {}, {}, Address("")),
        ({"host_key": "h", "port_key": "p"}, {}, {"h": "store"}, Address("store")),
        ({"host_key": "h", "port_key": "p"}, {}, {"p": "1"}, Address("")),
        ({"host_key": "h", "host_env": "HOST"}, {"HOST": "a:1"}, {"h": "b:2"}, Address("b", 2)),
        ({"text": "$(A)-$(B.c_1):$(P)"}, {"A": "x", "B.c_1": "y", "P": "3"}, None, Address("x-y", 3)),
    ],
)
def test_address_is_read_from_its_source(source: Any, env: Any, config: Any, expected: Address) -> None:
    reader = process("reader", IP, env=env, config=config)
    assert read_address(AddressSource(**source), reader) == expected


LOCKED = process(ConnectionOutcome.LOCK_TIMEOUT, IP, store_state=StoreState(locked={"orders"}))


@pytest.mark.parametrize(
    ("lanes", "old", "works", "hangs"),
    [
        ((ConnectionLane(ConnectionOutcome.OK),), (), True, False),
        ((ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED), ConnectionLane(ConnectionOutcome.OK)), (), True, False),
        ((ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED),), (ConnectionLane(ConnectionOutcome.OK),), True, False),
        ((ConnectionLane(ConnectionOutcome.CONNECTION_REFUSED),), (), False, False),
        ((ConnectionLane(ConnectionOutcome.CONNECTION_TIMEOUT),), (), False, True),
        ((ConnectionLane(ConnectionOutcome.OK),), (ConnectionLane(ConnectionOutcome.CONNECTION_TIMEOUT),), True, True),
        ((ConnectionLane(ConnectionOutcome.OK, LOCKED),), (), True, True),
        ((ConnectionLane(ConnectionOutcome.OK, process("free", IP)),), (), True, False),
    ],
)
def test_whether_calls_get_through_or_hang(lanes: Any, old: Any, works: bool, hangs: bool) -> None:
    link = Link(LinkKey(ProcessKey("a", "b", "c"), 0), Address("x"), "", lanes, old)
    assert (link.works, bool(link.hangs)) == (works, hangs)
