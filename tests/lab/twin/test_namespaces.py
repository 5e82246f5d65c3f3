"""Stores in a namespace of their own: names, policies and references across namespaces."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lab.twin.cluster.network_policy import Party, is_allowed
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.render import render_app, resolve_options
from tests.lab.twin.twin_cluster import TICK, TwinCluster

STORES = "shop-stores"


def start_apart(name: str, version: str) -> TwinCluster:
    app = Catalog().app(name, version)
    little = TwinCluster(app, render_app(app, resolve_options(app, {"separateStores": True}), 50, "shop"))
    for _ in range(4):
        little.run(TICK)
        little.revive()
    return little


@pytest.fixture(scope="module")
def hotel() -> TwinCluster:
    return start_apart("hotel-reservation", "6ecb097")


def policy(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"kind": "NetworkPolicy", "metadata": metadata, "spec": {"podSelector": {}, **spec}}


def test_app_across_namespaces_serves_normally(hotel: TwinCluster) -> None:
    minute = hotel.run(60.0)

    assert minute.calls("geo") > 0
    assert all(minute.calls(s, error=True) == 0 for s in ("frontend", "geo", "rate", "profile", "user"))


@pytest.mark.parametrize(
    ("host", "works"),
    [
        ("mongodb-geo", False),
        (f"mongodb-geo.{STORES}", True),
        (f"mongodb-geo.{STORES}.svc", True),
        (f"mongodb-geo.{STORES}.svc.cluster.local", True),
        ("mongodb-geo.elsewhere", False),
        ("consul.shop", True),
    ],
)
def test_qualified_name_is_resolved_in_its_namespace(hotel: TwinCluster, host: str, works: bool) -> None:
    hotel.twin.observe(hotel.view())
    (pod,) = hotel.pods("geo")
    port = 8500 if host.startswith("consul") else 27017

    assert (hotel.twin._network.lookup(pod, host, port).outcome == ConnectionOutcome.OK) == works


def test_unqualified_name_is_resolved_in_the_pod_namespace(hotel: TwinCluster) -> None:
    (store,) = hotel.pods("mongodb-geo")

    assert hotel.twin._network.lookup(store, "mongodb-rate", 27017).outcome == ConnectionOutcome.OK
    assert hotel.twin._network.lookup(store, "consul", 8500).outcome == ConnectionOutcome.NXDOMAIN


FROM_APP = {"from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}}]}


@pytest.mark.parametrize(
    ("namespace", "ingress", "cut"),
    [("elsewhere", [], False), ("shop", [], False), (STORES, [], True), (STORES, [FROM_APP], False)],
)
def test_policy_applies_to_its_own_namespace_only(
    hotel: TwinCluster, namespace: str, ingress: list[Any], cut: bool
) -> None:
    hotel.kinds["NetworkPolicy"] = {"a": policy("a", namespace, policyTypes=["Ingress"], ingress=ingress)}
    hotel.settle()
    (geo,), (store,) = hotel.pods("geo"), hotel.pods("mongodb-geo")

    assert hotel.twin._network.wire(geo, store, 27017).cut == cut


def test_peer_without_namespace_selector_is_in_policy_namespace() -> None:
    here = {"kubernetes.io/metadata.name": STORES}
    db, web = Party({"app": "db"}, here), Party({"app": "web"}, {"kubernetes.io/metadata.name": "shop"})
    rule = policy("a", STORES, policyTypes=["Ingress"], ingress=[{"from": [{"podSelector": {}}]}])

    assert not is_allowed([rule], web, db, 5432)
    assert is_allowed([rule], Party({"app": "web"}, here), db, 5432)


def test_store_reads_configuration_in_its_namespace() -> None:
    shop = start_apart("otel-demo", "2.2.0")
    shop.run(120.0)
    minute = shop.run(60.0)

    assert minute.calls("product-catalog") > 0
    assert minute.calls("product-catalog", error=True) == 0
    assert minute.calls("cart", error=True) == 0
