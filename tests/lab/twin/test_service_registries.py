"""Registries whose entries have leases, as Eureka's: renewal, expiry, leaving, and lists that are read at intervals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from scenario_kit.lab.twin.client_errors.by_language import describe_cause
from scenario_kit.lab.twin.network.endpoints import Destination
from scenario_kit.lab.twin.network.registry import ServiceRegistries
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import ProcessKey
from scenario_kit.model.twin.decode import decode
from tests.lab.twin.dialling import Surroundings, edge, process

EUREKA = {"component": "eureka", "heartbeatSeconds": 30, "leaseSeconds": 90, "fetchSeconds": 30}
PLACE = Destination("10.0.0.1", 80)


def _registries(**fields: Any) -> ServiceRegistries:
    load = {"component": "a", "entry": "b/x", "users": {}, "routes": {}}
    return ServiceRegistries(decode({"components": {}, "load": load, "registries": [EUREKA | fields]}))


def _process(name: str, *, terminating: bool = False, **fields: Any) -> Any:
    metadata = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if terminating else {}
    return SimpleNamespace(key=ProcessKey(name, name, "1"), pod={"metadata": metadata}, **fields)


def _service(**fields: Any) -> Any:
    return _process("service", ip=PLACE.ip, listeners=[SimpleNamespace(number=PLACE.port)], **fields)


REGISTRY = _process("eureka", component="eureka")
TABLE: Any = SimpleNamespace(get=lambda key: REGISTRY if key == REGISTRY.key else None)


@pytest.mark.parametrize(
    ("heartbeat", "due"),
    [(30, [True, False, True, False, True]), (0, [True, False, False, False, False])],
    ids=["heartbeats", "once"],
)
def test_services_renew_their_entries_at_heartbeats(heartbeat: float, due: list[bool]) -> None:
    registries, service = _registries(heartbeatSeconds=heartbeat), _service()

    assert [registries.is_due(service, "eureka", "srv", 15.0 * tick) for tick in range(5)] == due


@pytest.mark.parametrize(
    ("lease", "at", "listed"), [(90, 90, True), (90, 91, False), (0, 9999, True)], ids=["held", "ended", "for-ever"]
)
def test_entries_that_nobody_renews_expire(lease: float, at: float, listed: bool) -> None:
    registries = _registries(leaseSeconds=lease)
    registries.announce(REGISTRY, "srv", _service(), 0.0)

    registries.expire(TABLE, at)

    assert registries.listed(REGISTRY) == {"srv": (PLACE,) if listed else ()}


@pytest.mark.parametrize(
    ("terminating", "heartbeat", "leaves"),
    [(True, 30, True), (False, 30, False), (True, 0, False)],
    ids=["told-to-end", "running", "without-heartbeats"],
)
def test_services_that_are_told_to_end_leave_the_list(terminating: bool, heartbeat: float, leaves: bool) -> None:
    registries, service = _registries(heartbeatSeconds=heartbeat), _service(terminating=terminating)
    registries.announce(REGISTRY, "srv", service)

    assert registries.leaves(service, "eureka") is leaves
    registries.withdraw(REGISTRY, "srv", service)
    assert registries.listed(REGISTRY) == {"srv": ()}


def test_callers_read_the_list_at_intervals() -> None:
    registries, client, empty = _registries(), _process("client"), _process("new", component="eureka")

    assert registries.watch(client, "eureka", "srv", REGISTRY, 0.0) == ()
    registries.announce(REGISTRY, "srv", _service(), 1.0)
    assert registries.watch(client, "eureka", "srv", REGISTRY, 15.0) == (), "not read again yet"
    assert registries.watch(client, "eureka", "srv", REGISTRY, 30.0) == (PLACE,)
    assert registries.watch(client, "eureka", "srv", None, 90.0) == (PLACE,), "unreachable: the old list stays"
    assert registries.watch(client, "eureka", "srv", empty, 90.0) == (), "an empty registry is read like any other"
    registries.announce(empty, "srv", _service(), 100.0)
    assert registries.watch(client, "eureka", "srv", empty, 120.0) == (PLACE,)


def test_http_clients_call_listed_processes_that_are_gone() -> None:
    eureka = process("eureka", "10.0.1.1", "eureka")
    definition = {"components": {}, "load": {"component": "a", "entry": "b/x", "users": {}, "routes": {}}}
    around = Surroundings(
        edge(registry="eureka", name="srv", protocol="http"),
        eureka,
        parameters=decode(definition | {"registries": [EUREKA]}),
    )
    one, gone = (process(name, ip, protocol="http") for name, ip in (("one", "10.0.0.2"), ("gone", "10.0.0.3")))
    around.processes += [one, gone]
    around.registries.announce(eureka, "srv", one)
    around.registries.announce(eureka, "srv", gone)
    around.end(gone)

    lanes = around.link(0.0).lanes

    assert [lane.outcome for lane in lanes] == [ConnectionOutcome.OK, ConnectionOutcome.CONNECTION_TIMEOUT]


def test_clients_of_an_empty_registry_name_what_they_looked_for() -> None:
    words = describe_cause("java", ConnectionOutcome.NO_ADDRESSES, "http", name="customers-service")

    assert words == '503 SERVICE_UNAVAILABLE "Unable to find instance for customers-service"'
