"""Faults of scheduling, nodes, storage and configuration, rendered for the apps: they bite, and refuse where not."""

from functools import cache

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Change, Reference
from scenario_kit.render.faults.applicability import offer
from scenario_kit.render.faults.first_offer import render_objects_for

CATALOG = Catalog()
SHOP, HOTEL = "otel-demo", "hotel-reservation"
NOT_SHIPPED = ("secret-data-corrupted", "secret-rotated-stale-env")


@cache
def prepare(name, app_name):
    """The fault, the app, and its objects; the shop also with a Secret that two of its workloads read."""
    fault_type = CATALOG.fault(name)
    app = CATALOG.app(app_name, CATALOG.versions(app_name)[0])
    objects = render_objects_for(fault_type, app, CATALOG)
    if name in NOT_SHIPPED:
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "store"}, "data": {"password": "b2xk"}}
        readers = ("valkey-cart", "cart", "checkout")
        objects = (*(_reads(o) if o["metadata"]["name"] in readers else o for o in objects), secret)
    return fault_type, app, objects


def _reads(obj):
    if obj["kind"] != "Deployment":
        return obj
    change = Change.from_json(
        {
            "patch": {
                "target": f"Deployment/{obj['metadata']['name']}",
                "type": "Strategic",
                "patch": {
                    "spec": {
                        "template": {
                            "spec": {
                                "containers": [
                                    {
                                        "name": obj["spec"]["template"]["spec"]["containers"][0]["name"],
                                        "env": [
                                            {
                                                "name": "PASSWORD",
                                                "valueFrom": {"secretKeyRef": {"name": "store", "key": "password"}},
                                            }
                                        ],
                                    }
                                ]
                            }
                        }
                    }
                },
            }
        }
    )
    return change.operation.simulate((obj,), prepare("node-cordoned", SHOP)[1], "otel-demo")[0]


def render(name, app_name, target, /, **parameters):
    fault_type, app, objects = prepare(name, app_name)
    return offer(fault_type, app, objects, Reference.parse(target), parameters).fault


def simulate(changes, objects, app):
    for change in changes:
        objects = change.operation.simulate(objects, app, app.namespace)
    return objects


CART, CHECKOUT = (SHOP, "Deployment/cart"), (SHOP, "Deployment/checkout")
SEARCH, STORE = (HOTEL, "Deployment/search"), (HOTEL, "Deployment/mongodb-geo")
PROVISIONER = (SHOP, "local-path-storage/Deployment/local-path-provisioner")
OTHER_PROVISIONER = (HOTEL, "kube-system/StatefulSet/volumes")
FLAGS, SETTINGS = (SHOP, "ConfigMap/flagd-config"), (HOTEL, "ConfigMap/hotel-reservation-config")
SECRET = (SHOP, "Secret/store")
USES = [
    ("node-cordoned", CART, {}),
    ("node-cordoned", STORE, {"moreReplicas": 3}),
    ("taint-without-toleration", CART, {}),
    ("taint-without-toleration", SEARCH, {"key": "dedicated", "value": ""}),
    ("node-selector-unsatisfiable", CART, {}),
    ("node-selector-unsatisfiable", STORE, {"key": "disk", "value": "fast"}),
    ("pod-anti-affinity-unsatisfiable", CART, {}),
    ("pod-anti-affinity-unsatisfiable", SEARCH, {"against": "Itself"}),
    ("resource-request-unschedulable", CART, {}),
    ("resource-request-unschedulable", SEARCH, {"memory": "1Pi"}),
    ("priority-preemption", CART, {}),
    ("priority-preemption", SEARCH, {"resource": "cpu"}),
    ("pvc-storage-class-missing", CART, {}),
    ("pvc-storage-class-missing", SEARCH, {"storageClass": "fast", "mountPath": "/cache"}),
    ("pvc-claim-not-found", CART, {}),
    ("pvc-claim-not-found", SEARCH, {"volume": "cache", "claim": "cache"}),
    ("pvc-rwo-multi-attach", CART, {}),
    ("pvc-rwo-multi-attach", SEARCH, {"replicas": 3}),
    ("pv-node-affinity-conflict", CART, {}),
    ("pv-node-affinity-conflict", STORE, {}),
    ("pv-released-not-rebound", CART, {}),
    ("pv-released-not-rebound", STORE, {"sizeMebibytes": 1}),
    ("storage-provisioner-outage", PROVISIONER, {}),
    ("storage-provisioner-outage", OTHER_PROVISIONER, {"workload": "Deployment/search"}),
    ("volume-full", STORE, {}),
    ("volume-full", (HOTEL, "Deployment/mongodb-user"), {"percent": 95}),
    ("env-var-missing", CART, {}),
    ("env-var-missing", SEARCH, {"name": "MEMC_TIMEOUT"}),
    ("env-var-shadowed", CHECKOUT, {}),
    ("env-var-shadowed", SEARCH, {"name": "GC", "value": "1"}),
    ("configmap-deleted", FLAGS, {}),
    ("configmap-deleted", SETTINGS, {"workload": "Deployment/search"}),
    ("configmap-key-missing", FLAGS, {}),
    ("configmap-key-missing", SETTINGS, {}),
    ("secret-data-corrupted", SECRET, {}),
    ("secret-data-corrupted", SECRET, {"keys": ["password"], "workload": "Deployment/valkey-cart"}),
    ("secret-rotated-stale-env", SECRET, {}),
    ("secret-rotated-stale-env", SECRET, {"workload": "Deployment/checkout"}),
    ("runtime-gc-misconfigured", CHECKOUT, {}),
    ("runtime-gc-misconfigured", SEARCH, {"percent": 5}),
]


@pytest.mark.parametrize(("name", "use", "parameters"), USES, ids=[f"{n}-{u[1]}" for n, u, _ in USES])
def test_fault_changes_objects_and_is_repairable(name, use, parameters):
    fault = render(name, *use, **parameters)
    _, app, objects = prepare(name, use[0])
    broken = simulate(fault.changes, objects, app)
    assert fault.effect
    assert fault.undone
    assert fault.causes
    assert fault.decoys
    for repair in (*(e.fix for e in fault.causes), *(s.changes for s in fault.solutions)):
        assert repair
        simulate(repair, broken, app)
    for decoy in fault.decoys:
        assert decoy.changes not in [s.changes for s in fault.solutions]
        simulate(decoy.changes, broken, app)


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("node-selector-unsatisfiable", "Deployment/cart"),
        ("resource-request-unschedulable", "Deployment/cart"),
        ("resource-request-unschedulable", "Deployment/llm"),
        ("env-var-missing", "Deployment/checkout"),
        ("env-var-shadowed", "Deployment/checkout"),
        ("configmap-deleted", "ConfigMap/flagd-config"),
        ("configmap-key-missing", "ConfigMap/flagd-config"),
        ("runtime-gc-misconfigured", "Deployment/checkout"),
        ("secret-data-corrupted", "Secret/store"),
    ],
)
def test_fix_restores_the_original_objects(name, target):
    fault = render(name, SHOP, target)
    _, app, objects = prepare(name, SHOP)
    key = lambda o: (o["kind"], o["metadata"]["name"])  # noqa: E731
    fixed = simulate(fault.causes[0].fix, simulate(fault.changes, objects, app), app)
    for before, now in zip(sorted(objects, key=key), sorted(fixed, key=key), strict=True):
        assert _lean(now) == _lean(before)


def _lean(value):
    """Drop empty values: a merge patch keeps an emptied mapping, which a server drops."""
    if isinstance(value, dict):
        lean = {k: _lean(v) for k, v in value.items() if k != "namespace"}
        return {k: v for k, v in lean.items() if v not in ({}, [], None)}
    return [_lean(v) for v in value] if isinstance(value, list) else value


def test_fix_restores_variable_position():
    fault = render("env-var-missing", SHOP, "Deployment/checkout")
    restore = fault.causes[0].fix[0].operation
    assert restore.patch[0]["path"].startswith("/spec/template/spec/containers/0/env/")
    assert restore.patch[0]["value"]["name"] == "CART_ADDR"


def test_volume_full_uses_existing_claim():
    fault = render("volume-full", HOTEL, "Deployment/mongodb-geo")
    assert fault.changes[0].operation.manifest["spec"]["template"]["spec"]["volumes"][0]["persistentVolumeClaim"] == {
        "claimName": "geo-pvc"
    }


def test_all_readers_but_one_are_restarted():
    fault = render("secret-rotated-stale-env", SHOP, "Secret/store")
    assert [c.operation.target for c in fault.changes if c.operation.restarts] == [
        "Deployment/valkey-cart",
        "Deployment/checkout",
    ]
    assert [e.ref for e in fault.causes] == ["Deployment/cart"]


@pytest.mark.parametrize(
    ("name", "use", "parameters", "part"),
    [
        ("priority-preemption", (SHOP, "Deployment/llm"), {}, "requests neither memory nor CPU"),
        ("pod-anti-affinity-unsatisfiable", CART, {"against": "Itself", "replicas": 1}, "does not share its place"),
        ("pvc-claim-not-found", FLAGS, {}, "cannot be aimed at a ConfigMap"),
        ("pvc-claim-not-found", (SHOP, "Deployment/flagd"), {"volume": "config-ro"}, "that is no claim"),
        *(
            (name, (SHOP, "Deployment/flagd"), {"mountPath": "/etc/flagd"}, "another volume is mounted at this path")
            for name in (
                "pv-node-affinity-conflict", "pv-released-not-rebound", "pvc-claim-not-found", "pvc-rwo-multi-attach",
            )
        ),
        ("storage-provisioner-outage", CART, {}, "provides no volumes"),
        ("volume-full", CART, {}, "mounts no claim"),
        ("env-var-missing", (SHOP, "Deployment/ad"), {}, "no variable of the target holds an address"),
        ("env-var-missing", CART, {"name": "ABSENT"}, "no environment variable 'ABSENT'"),
        ("env-var-shadowed", CART, {"name": "VALKEY_ADDR", "value": "valkey-cart:6379"}, "the value of the first one"),
        ("configmap-deleted", (SHOP, "ConfigMap/otel-collector-agent"), {}, "nothing could be proven"),
        ("configmap-deleted", FLAGS, {"workload": "Deployment/cart"}, "does not read it"),
        ("configmap-key-missing", FLAGS, {"key": "absent"}, "does not have this key"),
        ("configmap-field-wrong", SETTINGS, {"field": "GeoMongoAddress", "workload": "Deployment/user"}, "by geo"),
        ("secret-data-corrupted", SECRET, {"value": "b2xk"}, "has this value already"),
        ("secret-data-corrupted", SECRET, {"keys": ["absent"]}, "does not have all of these keys"),
        ("secret-data-corrupted", SECRET, {"workload": "Deployment/ad"}, "does not read the Secret"),
        ("secret-rotated-stale-env", SECRET, {"value": "b2xk"}, "has this value already"),
        ("secret-rotated-stale-env", SECRET, {"workload": "Deployment/valkey-cart"}, "cannot be left out"),
        ("runtime-gc-misconfigured", (SHOP, "Deployment/ad"), {}, "written in Go"),
        ("runtime-gc-misconfigured", SEARCH, {"percent": 21}, "greater than the maximum"),
        ("resource-request-unschedulable", CART, {"memory": "64Mi"}, "does not match"),
    ],
)  # fmt: skip
def test_ineffective_placement_fault_is_refused(name, use, parameters, part):
    with pytest.raises(AuthoringError) as caught:
        render(name, *use, **parameters)
    reported = caught.value.message + "".join(f.message for f in caught.value.findings)
    assert part in reported


@pytest.mark.parametrize(
    ("field", "workload"),
    [
        ("RateMemcAddress", "Deployment/rate"),
        ("ReserveMongoAddress", "Deployment/reservation"),
        ("RatePort", "Deployment/frontend"),  # nothing tells whose it is
    ],
)
def test_wrong_field_affects_workload_that_reads_it(field, workload):
    simulate = render("configmap-field-wrong", *SETTINGS, field=field)
    assert simulate.changes[-1].operation.target == workload


def test_tolerated_taint_is_refused():
    fault_type, app, objects = prepare("taint-without-toleration", SHOP)
    tolerant = Change.from_json(
        {
            "patch": {
                "target": "Deployment/cart",
                "type": "Merge",
                "patch": {"spec": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}},
            }
        }
    )
    with pytest.raises(AuthoringError, match="tolerates this taint"):
        offer(
            fault_type, app, tolerant.operation.simulate(objects, app, app.namespace), Reference("Deployment", "cart")
        )
