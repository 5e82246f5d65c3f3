"""DNS queries under network chaos, and how long clients wait for connections, by the library of their language."""

from typing import Any

import pytest

from scenario_kit.lab.twin.network.connect_timeouts import find_channel_timeout
from scenario_kit.lab.twin.network.name_queries import (
    DNS_ADDRESS,
    QueryPath,
    find_path,
    measure_failure,
    measure_resolution,
)
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model import NetworkEffect
from scenario_kit.model.twin.component import ComponentModel, Resolver
from tests.lab.twin import tiny
from tests.lab.twin.dialling import ADDRESS, Surroundings, between, edge
from tests.lab.twin.outcomes import observe

SILENT = QueryPath(answered=False)


def affect(direction: str = "OUTPUT", **fields: Any) -> NetworkEffect:
    """An effect in the caller's pod."""
    return NetworkEffect(pod_uid="web", direction=direction, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("effects", "path"),
    [
        ((), QueryPath()),
        ((affect(drop=True),), SILENT),
        ((affect(loss=100.0),), SILENT),
        ((affect("INPUT", drop=True),), SILENT),  # the answers
        ((affect(delay=0.3),), QueryPath(delay=0.3)),
        ((affect(delay=0.3), affect(delay=0.2)), QueryPath(delay=0.5)),
        ((affect(loss=25.0),), QueryPath(loss=0.25)),
        ((affect(loss=30.0, delay=0.3, peers=("10.0.0.2",)),), QueryPath()),
        # Targets are pods; queries are addressed to the DNS server's Service.
        ((affect(drop=True, peers=("10.0.0.2",)),), QueryPath()),
        ((affect(drop=True, peers=("10.0.0.0/24",)),), QueryPath()),
        ((affect(drop=True, peers=(DNS_ADDRESS,)),), SILENT),
        ((affect(delay=1.0, peers=("10.96.0.0/16",)),), QueryPath(delay=1.0)),
    ],
)
def test_chaos_affects_queries_unless_it_has_other_targets(effects: tuple[NetworkEffect, ...], path: QueryPath) -> None:
    assert find_path(effects) == path


@pytest.mark.parametrize(
    ("host", "resolver", "seconds"),
    [
        # As measured with a name server that does not answer, and search domains: glibc 2.36, musl 1.2, and Go 1.26.
        ("cart", "glibc", 20.0),
        ("cart", "go", 40.0),
        ("cart", "musl", 5.0),
        ("cart.shop.svc.cluster.local", "go", 40.0),
        ("cart.shop.svc.cluster.local.", "go", 10.0),
        ("cart.shop.svc.cluster.local.", "glibc", 10.0),
        ("cart.shop.svc.cluster.local.", "musl", 5.0),
        ("cart", "envoy", 0.0),
    ],
)
def test_name_without_an_answer_fails_after_all_attempts(host: str, resolver: Resolver, seconds: float) -> None:
    assert measure_failure(host, "shop", resolver) == seconds


@pytest.mark.parametrize(
    ("host", "resolver", "delay", "seconds"),
    [
        ("cart", "go", 0.5, 0.5),
        ("cart.shop", "go", 0.5, 1.0),
        ("cart.shop.svc", "go", 0.5, 1.5),
        ("cart.shop.svc.cluster.local", "go", 0.5, 2.0),  # four dots are fewer than five
        ("cart.shop.svc.cluster.local.", "go", 0.5, 0.5),
        ("cart", "go", 6.0, None),
        ("cart", "glibc", 6.0, 6.0),
        ("cart", "glibc", 10.0, None),
        ("cart", "musl", 4.0, 4.0),
        ("cart", "musl", 5.0, None),
    ],
)
def test_late_queries_add_up_over_the_search_path(
    host: str, resolver: Resolver, delay: float, seconds: float | None
) -> None:
    assert measure_resolution(host, "shop", resolver, QueryPath(delay=delay)) == seconds


@pytest.mark.parametrize(
    ("dialect", "libc", "resolver"),
    [("go", "musl", "go"), ("envoy", "glibc", "envoy"), ("python", "musl", "musl"), ("rust", "glibc", "glibc")],
)
def test_programs_resolve_with_their_library(dialect: Any, libc: Any, resolver: Resolver) -> None:
    around, _ = between(model=ComponentModel(image="*", dialect=dialect, libc=libc))
    assert around.caller.resolver == resolver


@pytest.mark.parametrize(
    ("dialect", "seconds"),
    [
        # Measured on a port that does not answer: grpc-go 1.78, grpcio 1.85 and grpc-java 1.78 have limits of their
        # own, grpc-js 1.12 has none, so the kernel's counts. Grpc.Net.Client and tonic by their source.
        ("go", 20.0),
        ("python", 20.0),
        ("cpp", 20.0),
        ("java", 30.0),
        ("node", 131.0),
        ("dotnet", 131.0),
        ("rust", 131.0),
        ("", 20.0),
    ],
)
def test_channel_waits_as_long_as_its_library(dialect: str, seconds: float) -> None:
    assert find_channel_timeout(edge(), dialect) == seconds
    assert find_channel_timeout(edge(connect_timeout_seconds=7.0), dialect) == 7.0


def _cut_all(around: Surroundings) -> None:
    around.effects = (NetworkEffect(pod_uid=around.caller.key.pod_uid, direction="OUTPUT", drop=True),)


@pytest.mark.parametrize(("text", "outcome"), [("store:7000", "unanswered"), (f"{ADDRESS}:7000", "dropped")])
def test_caller_without_a_network_resolves_no_name(text: str, outcome: str) -> None:
    around, _ = between(text=text)
    _cut_all(around)
    assert around.lane(0.0).outcome == ConnectionOutcome(outcome)


def test_open_connection_needs_no_query() -> None:
    around, there = between()
    assert around.lane(0.0).target is there
    _cut_all(around)
    assert around.lane(15.0).outcome == ConnectionOutcome.CONNECTION_TIMEOUT
    assert around.lane(30.0).target is there, "its packets are lost, and it stands"


@pytest.mark.parametrize(("address", "leaves"), [("box", 4), ("box.shop", 5), ("box.shop.svc.cluster.local.", 4)])
def test_new_connections_resolve_late(address: str, leaves: int) -> None:
    """Queries of the search, a handshake, a request and the answer: all that leaves the pod is late."""
    edges = [{**each, "reuseConnection": False} if each["caller"] == "api" else each for each in tiny.TWIN["edges"]]
    cluster = tiny.start_cluster(edges=edges)
    cluster.env("api", "BOX_DSN", f"sql://me:secret@{address}:7000/x")
    cluster.chaos("api", delay=0.25)
    cluster.run(60.0)
    (outcome,) = observe(cluster, "gate", ("GET /read",), 120.0).values()
    assert outcome.failed == 0.0
    assert outcome.seconds == pytest.approx(leaves * 0.25, abs=0.08)


@pytest.mark.parametrize(("dialect", "seconds"), [("node", 20.0), ("go", 30.0), ("python", 14.0), ("cpp", 14.0)])
def test_channel_without_a_name_fails_when_its_resolver_gives_up(dialect: Any, seconds: float) -> None:
    around, there = between(model=ComponentModel(image="*", dialect=dialect))
    around.end(there)
    _cut_all(around)
    assert around.lane(45.0).fails_at == 45.0 + seconds
