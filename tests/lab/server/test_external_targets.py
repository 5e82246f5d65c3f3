"""Names in external targets, as the cluster's name server answers a program of the platform."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from scenario_kit.lab import chaos_webhooks
from scenario_kit.lab.control_plane import cluster_dns
from scenario_kit.lab.host.http_server import Request
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.server.cluster_names import ClusterNames
from scenario_kit.lab.server.external_targets import ExternalTargets
from scenario_kit.model import Object


def put(store: ObjectStore, kind: str, name: str, namespace: str = "shop", labels: Any = None, **more: Any) -> None:
    meta = {"name": name, "namespace": namespace, "uid": f"{namespace}-{kind}-{name}", "resourceVersion": "1"}
    store.put(kind, {"kind": kind, "metadata": {**meta, "labels": labels or {}}, **more})


@pytest.fixture
def store() -> ObjectStore:
    found = ObjectStore()
    put(found, "Service", "cart", spec={"clusterIP": "10.96.0.7"})
    put(found, "Service", "db", spec={"clusterIP": "None"})
    put(found, "Service", "empty", spec={"clusterIP": "None"})
    put(found, "Service", "alias", spec={"type": "ExternalName", "externalName": "cart.shop.svc.cluster.local"})
    put(found, "Service", "world", spec={"type": "ExternalName", "externalName": "example.com"})
    put(found, "Service", "own", "chaos-mesh", spec={"clusterIP": "10.96.0.9"})
    endpoints = [
        {"addresses": ["10.0.0.2"], "hostname": "db-1", "conditions": {"ready": True}},
        {"addresses": ["10.0.0.1"], "hostname": "db-0", "conditions": {"ready": True}},
        {"addresses": ["10.0.0.3"], "hostname": "db-2", "conditions": {"ready": False}},
    ]
    labels = {"kubernetes.io/service-name": "db"}
    put(found, "EndpointSlice", "db-x", labels=labels, addressType="IPv4", endpoints=endpoints)
    return found


def review_targets(store: ObjectStore, *targets: str, kind: str = "NetworkChaos") -> tuple[Any, str]:
    """The targets that the manager sees, or why the object is refused."""
    spec: Object = {"externalTargets": list(targets)}
    if kind == "Schedule":
        spec = {"type": "NetworkChaos", "networkChaos": spec}
    obj = {"kind": kind, "metadata": {"name": "x"}, "spec": spec}
    review = {"apiVersion": "admission.k8s.io/v1", "request": {"uid": "1", "object": obj}}
    request = Request("POST", chaos_webhooks.TARGETS_PATH, body=json.dumps(review).encode())
    response = json.loads(ExternalTargets(ClusterNames(store)).answer(request).body)["response"]
    if not response["allowed"]:
        return None, response["status"]["message"]
    if "patch" not in response:
        return list(targets), ""
    (patch,) = json.loads(base64.b64decode(response["patch"]))
    inside = "/spec/networkChaos" if kind == "Schedule" else "/spec"
    assert (patch["op"], patch["path"]) == ("replace", f"{inside}/externalTargets")
    return patch["value"], ""


@pytest.mark.parametrize(
    ("target", "addresses"),
    [
        ("cart.shop", ["10.96.0.7"]),
        ("cart.shop.svc", ["10.96.0.7"]),
        ("cart.shop.svc.cluster.local", ["10.96.0.7"]),
        ("cart.shop.svc.cluster.local.", ["10.96.0.7"]),
        ("Cart.Shop", ["10.96.0.7"]),
        ("own", ["10.96.0.9"]),
        ("db.shop", ["10.0.0.1", "10.0.0.2"]),
        ("db-1.db.shop", ["10.0.0.2"]),
        ("alias.shop", ["10.96.0.7"]),
        ("10-0-0-1.shop.pod", ["10.0.0.1"]),
        ("cart.shop:6379", ["10.96.0.7:6379"]),
        ("10.0.0.0/8", ["10.0.0.0/8"]),
        ("192.0.2.1", ["192.0.2.1"]),
        ("192.0.2.1:443", ["192.0.2.1:443"]),
        ("2001:db8::1", ["2001:db8::1"]),
    ],
)
def test_external_target_resolves_to_addresses(store: ObjectStore, target: str, addresses: list[str]) -> None:
    assert review_targets(store, target) == (addresses, "")


@pytest.mark.parametrize(
    "target", ["cart", "kart.shop", "cart.shopp.svc.cluster.local", "redis.default.svc", "empty.shop", "db-2.db.shop"]
)
def test_unresolvable_name_is_refused_with_field(store: ObjectStore, target: str) -> None:
    found, problem = review_targets(store, "cart.shop", target)
    assert found is None
    assert problem == f"spec.externalTargets[1]: lookup {target} on {cluster_dns.ADDRESS}:53: no such host"


@pytest.mark.parametrize("target", ["example.com", "api.stripe.com", "world.shop"])
def test_public_name_is_rejected(store: ObjectStore, target: str) -> None:
    assert "a name outside" in review_targets(store, target)[1]


def test_schedule_targets_are_resolved_in_its_experiment(store: ObjectStore) -> None:
    assert review_targets(store, "cart.shop", kind="Schedule") == (["10.96.0.7"], "")


def test_configuration_of_the_name_server_counts(store: ObjectStore) -> None:
    corefile = (
        ".:53 {\n  template ANY A shop.svc.cluster.local {\n    rcode SERVFAIL\n  }\n  kubernetes cluster.local\n}\n"
    )
    for obj in cluster_dns.build_objects():
        meta = {**obj["metadata"], "uid": f"dns-{obj['kind']}", "resourceVersion": "1"}
        data = {"data": {cluster_dns.KEY: corefile}} if obj["kind"] == "ConfigMap" else {}
        store.put(obj["kind"], {**obj, **data, "metadata": meta})

    assert review_targets(store, "cart.shop")[1].endswith("server misbehaving")


def test_invalid_admission_review_is_refused(store: ObjectStore) -> None:
    answer = ExternalTargets(ClusterNames(store)).answer
    assert answer(Request("POST", chaos_webhooks.TARGETS_PATH, body=b"{}")).status == 400
    assert answer(Request("GET", "/")).status == 404
