from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.model import AlertRule, App, Component, EntityLabel, Object, Reference
from scenario_kit.observe import Owners, list_owned_pods
from scenario_kit.observe.entities import find_by_name, find_entity
from scenario_kit.testing import FakeCluster

NS = "shop-1"

APP = App(
    name="shop",
    version="1",
    namespace="shop",
    entry="web",
    components=(
        Component(name="web", workload=Reference("Deployment", "web")),
        Component(name="web-proxy", workload=Reference("Deployment", "web-proxy")),
        Component(name="db", workload=Reference("StatefulSet", "valkey")),
        Component(name="agent", workload=Reference("DaemonSet", "agent")),
    ),
)


def rule(label: str, kind: str) -> AlertRule:
    return AlertRule(
        name="A",
        expr="x",
        for_seconds=0,
        range_seconds=0,
        entity=EntityLabel(label=label, kind=kind),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("label", "kind", "labels", "entity"),
    [
        ("service_name", "Component", {"service_name": "db"}, "StatefulSet/valkey"),
        ("service_name", "Component", {"service_name": "unheard"}, None),
        ("service_name", "Component", {}, None),
        ("pod", "Pod", {"pod": "known"}, "Deployment/web"),
        ("pod", "Pod", {"pod": "valkey-0"}, "StatefulSet/valkey"),
        ("deployment", "Deployment", {"deployment": "web"}, "Deployment/web"),
        ("node", "Node", {"node": "n1"}, "Node/n1"),
    ],
)
def test_entities(label: str, kind: str, labels: dict[str, str], entity: str | None) -> None:
    owners = {"known": Reference("Deployment", "web", NS)}
    assert find_entity(rule(label, kind), labels, APP, owners.get) == entity


def test_rule_without_an_entity() -> None:
    plain = AlertRule(name="A", expr="x", for_seconds=0, range_seconds=0)
    assert find_entity(plain, {"pod": "x"}, APP, lambda _: None) is None


@pytest.mark.parametrize(
    ("pod", "workload"),
    [
        ("web-5d59d67564-x2x4z", "Deployment/web"),
        ("web-proxy-5d59d67564-x2x4z", "Deployment/web-proxy"),
        ("valkey-0", "StatefulSet/valkey"),
        ("valkey-12", "StatefulSet/valkey"),
        ("agent-x2x4z", "DaemonSet/agent"),
        ("stranger-5d59d67564-x2x4z", "Pod/stranger-5d59d67564-x2x4z"),
        ("web", "Pod/web"),
    ],
)
def test_deleted_pod_is_mapped_by_its_name(pod: str, workload: str) -> None:
    assert find_by_name(pod, APP) == workload


def obj(kind: str, name: str, version: str = "v1", owner: tuple[str, str] | None = None, **body: Any) -> Object:
    metadata: Object = {"name": name, "namespace": NS, "labels": body.pop("labels", {})}
    if owner:
        metadata["ownerReferences"] = [{"kind": owner[0], "name": owner[1], "uid": owner[1], "controller": True}]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {}, **body}


def workloads() -> FakeCluster:
    return FakeCluster(
        [
            obj("ReplicaSet", "web-1", "apps/v1", ("Deployment", "web")),
            obj("ReplicaSet", "alone", "apps/v1"),
            obj("Pod", "web-1-a", owner=("ReplicaSet", "web-1"), labels={"app": "web"}),
            obj("Pod", "alone-a", owner=("ReplicaSet", "alone")),
            obj("Pod", "valkey-0", owner=("StatefulSet", "valkey")),
            obj("Pod", "orphan-1-a", owner=("ReplicaSet", "orphan-1")),
            obj("Pod", "bare"),
            obj("Service", "web", spec={"selector": {"app": "web"}}),
            obj("Service", "outside"),
        ]
    )


@pytest.mark.parametrize(
    ("ref", "pods"),
    [
        ("Deployment/web", ["web-1-a"]),
        ("ReplicaSet/web-1", ["web-1-a"]),
        ("ReplicaSet/alone", ["alone-a"]),
        ("StatefulSet/valkey", ["valkey-0"]),
        ("Pod/bare", ["bare"]),
        ("ReplicaSet/orphan-1", ["orphan-1-a"]),
        ("Service/web", ["web-1-a"]),
        ("Service/outside", []),
        ("Service/gone", []),
        ("Deployment/other", []),
    ],
)
def test_owned_pods(ref: str, pods: list[str]) -> None:
    found = list_owned_pods(workloads(), Reference.parse(ref).within(NS))
    assert [p["metadata"]["name"] for p in found] == pods


def test_owners_outlive_their_pods() -> None:
    cluster = workloads()
    owner_of = Owners(cluster, NS)
    assert owner_of("web-1-a") == Reference("Deployment", "web", NS)
    assert owner_of("valkey-0") == Reference("StatefulSet", "valkey", NS)
    assert owner_of("alone-a") == Reference("ReplicaSet", "alone", NS)
    assert owner_of("bare") is None
    assert owner_of("orphan-1-a") is None
    cluster.delete(Reference("Pod", "web-1-a", NS))
    assert owner_of("web-1-a") == Reference("Deployment", "web", NS)
    assert Owners(cluster, NS)("web-1-a") is None


def test_entities_in_other_namespaces_include_namespace() -> None:
    stored = Component(name="db", workload=Reference.parse("stores/StatefulSet/valkey"), role="Store")
    app = App(name="shop", version="1", namespace="shop", entry="web", components=(APP.components[0], stored))
    owners = {"known": Reference("StatefulSet", "valkey", f"{NS}-stores")}

    assert find_entity(rule("service_name", "Component"), {"service_name": "db"}, app, owners.get) == stored.workload
    assert find_entity(rule("pod", "Pod"), {"pod": "known"}, app, owners.get) == stored.workload
    assert find_entity(rule("pod", "Pod"), {"pod": "valkey-0"}, app, owners.get) == stored.workload
    assert (
        find_entity(rule("statefulset", "StatefulSet"), {"statefulset": "valkey"}, app, owners.get) == stored.workload
    )
    assert find_entity(rule("deployment", "Deployment"), {"deployment": "web"}, app, owners.get) == "Deployment/web"
