"""Apps whose stores have a separate namespace: object locations, and references."""

from __future__ import annotations

import pytest
from msgspec import structs

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.errors import AuthoringError
from scenario_kit.load import load_scenario
from scenario_kit.model import App, Change, Object, Reference
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.model.kubernetes.reference import resolve_namespace, symbolise_namespace
from scenario_kit.render import render_app, render_fault, resolve
from scenario_kit.render.apps.namespaces import (
    list_used,
    locate_components,
    make_finder,
    restore_written,
    settle_change,
    settle_hosts,
)

CATALOG = Catalog()
HOME, STORES = "shop-ab12", "shop-ab12-stores"
VERSIONS = [(name, version) for name in CATALOG.apps() for version in CATALOG.versions(name)]


def render_apart(name: str, version: str) -> tuple[App, tuple[Object, ...]]:
    app = CATALOG.app(name, version)
    objects = render_app(app, {"separateStores": True}, 50, HOME, templates=CATALOG.templates(name))
    return locate_components(app, objects, HOME), objects


@pytest.mark.parametrize(
    ("symbol", "real"), [("app", HOME), ("stores", STORES), ("kube-system", "kube-system")], ids=str
)
def test_symbolic_namespaces_round_trip(symbol: str, real: str) -> None:
    assert symbolise_namespace(real, HOME) == symbol
    if symbol != "kube-system":
        assert resolve_namespace(HOME, symbol) == real


def test_references_take_the_real_name_of_a_symbolic_namespace() -> None:
    others = {"stores": STORES}

    assert Reference.parse("stores/Deployment/db").within(HOME, others).namespace == STORES
    assert Reference("Deployment", "web").within(HOME, others).namespace == HOME
    assert Reference.parse("kube-system/ConfigMap/coredns").within(HOME, others).namespace == "kube-system"


@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_only_stores_move_and_callers_resolve_them(name: str, version: str) -> None:
    app, objects = render_apart(name, version)
    stores = [c for c in app.components if c.role == "Store"]
    together = render_app(CATALOG.app(name, version), {}, 50, HOME, templates=CATALOG.templates(name))

    assert list_used(app, objects, HOME) == {"stores": STORES}
    assert list_used(app, together, HOME) == {}
    assert {c.name for c in app.components if c.workload.startswith("stores/")} == {c.name for c in stores}
    text = str([o for o in objects if o["metadata"].get("namespace") == HOME])
    moved = {(o["kind"], o["metadata"]["name"]) for o in objects if o["metadata"].get("namespace") == STORES}
    assert text.replace(f".{STORES}", "") == str(
        [
            o
            for o in together
            if (o["kind"], o["metadata"]["name"]) not in moved and o["metadata"].get("namespace") == HOME
        ]
    )
    for store in stores:
        homes = {o["metadata"]["namespace"] for o in objects if o["metadata"]["name"] == store.service}
        assert homes == {STORES}
        assert f"{store.service}.{STORES}" in text


@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_pod_dependencies_are_in_its_namespace(name: str, version: str) -> None:
    _, objects = render_apart(name, version)
    there = {(o["kind"], o["metadata"]["name"]): o["metadata"].get("namespace") for o in objects}

    for obj in objects:
        if obj["kind"] not in ("Deployment", "StatefulSet", "DaemonSet"):
            continue
        spec, home = obj["spec"]["template"]["spec"], obj["metadata"]["namespace"]
        needed = [("ServiceAccount", spec["serviceAccountName"])] if "serviceAccountName" in spec else []
        for volume in spec.get("volumes") or ():
            needed += [("ConfigMap", volume["configMap"]["name"])] if "configMap" in volume else []
            claim = volume.get("persistentVolumeClaim")
            needed += [("PersistentVolumeClaim", claim["claimName"])] if claim else []
        assert [n for n in needed if there.get(n, home) != home] == []


def test_default_option_keeps_plain_names() -> None:
    app = CATALOG.app("hotel-reservation", "6ecb097")
    objects = render_app(app, {}, 50, HOME)

    assert locate_components(app, objects, HOME) is app


def test_reference_without_namespace_matches_any_namespace() -> None:
    _, objects = render_apart("hotel-reservation", "6ecb097")
    find = make_finder(objects, HOME)

    assert find(Reference.parse("Deployment/mongodb-geo")) == "stores/Deployment/mongodb-geo"
    assert find(Reference.parse("Deployment/geo")) == "Deployment/geo"
    assert find(Reference.parse("kube-system/ConfigMap/coredns")) == "kube-system/ConfigMap/coredns"
    assert find(Reference.parse("Node/node:host:Deployment:mongodb-geo")) == "Node/node:host:Deployment:mongodb-geo"


def test_store_fault_stays_in_its_namespace() -> None:
    app, objects = render_apart("hotel-reservation", "6ecb097")
    use = FaultUse(
        name="cut", type="network-policy-deny-ingress", target=Reference.parse("stores/Deployment/mongodb-geo")
    )

    made = render_fault(CATALOG.fault(use.type), use, app, objects, HOME, "s")

    (policy,) = (c.operation.manifest for c in made.changes if c.operation.keyword == "create")
    assert policy is not None
    assert policy["metadata"]["namespace"] == STORES
    cause = next(e for e in made.entities if e.role == "Cause")
    assert cause.ref == f"stores/NetworkPolicy/{policy['metadata']['name']}"
    assert {c.target for s in made.solutions for c in s.changes} <= {cause.ref}


@pytest.mark.parametrize("target", ["stores/Deployment/mongodb-geo", "Deployment/geo"])
@pytest.mark.parametrize(("written", "home"), [("stores", STORES), ("app", HOME), ("kube-system", "kube-system")])
def test_fault_objects_keep_their_namespace(target: str, written: str, home: str) -> None:
    app, objects = render_apart("hotel-reservation", "6ecb097")
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "notes", "namespace": written}}
    known = CATALOG.fault("deployment-scaled-to-zero")
    fault_type = structs.replace(known, changes=(*known.changes, {"create": made}))

    changes = render_fault(
        fault_type, FaultUse(name="cut", type="x", target=Reference.parse(target)), app, objects, HOME, "s"
    ).changes

    assert [
        (c.operation.manifest or {})["metadata"].get("namespace", HOME)
        for c in changes
        if c.operation.keyword == "create"
    ] == [home]


def test_chaos_selectors_use_pod_namespaces() -> None:
    app, objects = render_apart("otel-demo", "2.2.0")
    use = FaultUse(name="cut", type="network-partition", target=Reference.parse("stores/Deployment/valkey-cart"))

    made = render_fault(CATALOG.fault(use.type), use, app, objects, HOME, "s")

    (chaos,) = (c.operation.experiment for c in made.changes if c.operation.experiment)
    assert chaos is not None
    assert chaos["metadata"]["namespace"] == STORES
    assert chaos["spec"]["selector"]["namespaces"] == [STORES]
    assert chaos["spec"]["target"]["selector"]["namespaces"] == [HOME]


def test_object_in_messages_has_its_namespace() -> None:
    app, objects = render_apart("hotel-reservation", "6ecb097")
    use = FaultUse(name="cut", type="network-policy-deny-ingress", target=Reference("Deployment", "mongodb-geo"))

    with pytest.raises(AuthoringError) as refused:
        render_fault(CATALOG.fault(use.type), use, app, objects, HOME, "s")

    assert "stores/Deployment/mongodb-geo" in str(refused.value.findings[0])


def test_fault_digest_is_independent_of_the_namespace() -> None:
    fault_type = CATALOG.fault("configmap-field-wrong")
    use = FaultUse(name="address", type=fault_type.name, target=Reference("ConfigMap", "hotel-reservation-config"))
    app = CATALOG.app("hotel-reservation", "6ecb097")
    digests = set()
    for home in ("hotel-ab12", "hotel-cd34"):
        objects = render_app(app, {"separateStores": True}, 50, home)
        made = render_fault(fault_type, use, locate_components(app, objects, home), objects, home, "s")
        digests.add(made.digest)

    assert len(digests) == 1


def _in(namespace: str | None) -> Change:
    metadata = {"name": "cart"} | ({"namespace": namespace} if namespace else {})
    return Change.from_json({"create": {"apiVersion": "v1", "kind": "Service", "metadata": metadata}})


@pytest.mark.parametrize(
    ("copied", "written", "real"),
    [
        (None, None, None),
        ("app", None, None),
        ("otel-demo", None, None),  # as the app's namespace is called by convention
        ("stores", "stores", STORES),
        ("otel-demo-stores", "stores", STORES),
        ("otel-demo-other", "otel-demo-other", "otel-demo-other"),
        ("kube-system", "kube-system", "kube-system"),
    ],
)
def test_copied_object_belongs_to_app_in_any_namespace(
    copied: str | None, written: str | None, real: str | None
) -> None:
    app, _ = render_apart("otel-demo", "2.2.0")
    assert restore_written(_in(copied), app) == _in(written)
    assert settle_change(_in(copied), app, HOME) == _in(real)


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("otel-demo/Deployment/cart", "Deployment/cart"),
        ("otel-demo-stores/Deployment/valkey-cart", "stores/Deployment/valkey-cart"),
        ("kube-system/Deployment/coredns", "kube-system/Deployment/coredns"),
        ("Deployment/cart", "Deployment/cart"),
    ],
)
def test_referenced_object_belongs_to_app_in_any_namespace(target: str, written: str) -> None:
    app, _ = render_apart("otel-demo", "2.2.0")
    change = Change.from_json({"scale": {"target": target, "replicas": 1}})
    assert restore_written(change, app).target == settle_change(change, app, HOME).target == written


@pytest.mark.parametrize(
    ("written", "real"),
    [
        (".otel-demo.svc.cluster.local", ".shop-ab12.svc.cluster.local"),
        ("http://cart.otel-demo:8080/x", "http://cart.shop-ab12:8080/x"),
        ("valkey-cart.otel-demo-stores:6379", "valkey-cart.shop-ab12-stores:6379"),
        ("a.otel-demo,b.otel-demo-stores", "a.shop-ab12,b.shop-ab12-stores"),
        ('{"addr": "cart.otel-demo"}', '{"addr": "cart.shop-ab12"}'),
        ("otel-demo", "otel-demo"),
        ("ghcr.io/open.otel-demo-cart:2", "ghcr.io/open.otel-demo-cart:2"),
        ("cart.otel-demo.example.org", "cart.otel-demo.example.org"),
        ("cart.otel-demo-other:80", "cart.otel-demo-other:80"),
    ],
)
def test_addresses_in_authored_text_resolve_to_trial(written: str, real: str) -> None:
    app, _ = render_apart("otel-demo", "2.2.0")

    def change(text: str) -> Change:
        patch = {"target": "Deployment/cart", "type": "Merge", "patch": {"spec": {"list": [{"value": text}]}}}
        return Change.from_json({"patch": patch})

    assert settle_change(change(written), app, HOME) == change(real)
    assert settle_change(change(written), app, app.namespace) == change(written)


@pytest.mark.parametrize(
    ("homes", "found"),
    [
        ([HOME], "ConfigMap/x"),
        ([STORES], "stores/ConfigMap/x"),
        ([HOME, STORES], "ConfigMap/x"),
        ([STORES, HOME], "ConfigMap/x"),
        ([STORES, f"{HOME}-caches"], "ConfigMap/x"),
    ],
)
def test_of_several_objects_of_a_name_the_default_namespaces_own_is_meant(homes: list[str], found: str) -> None:
    objects = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": h}} for h in homes]

    assert make_finder(objects, HOME)(Reference.parse("ConfigMap/x")) == found


@pytest.mark.parametrize(
    ("value", "settled"),
    [
        ("amqp://user:pw@rabbit.shop-stores:5672/", f"amqp://user:pw@rabbit.{STORES}:5672/"),
        ("web.shop.svc.cluster.local", f"web.{HOME}.svc.cluster.local"),
        ({"hosts": ["db.shop-stores", "db.shopping"]}, {"hosts": [f"db.{STORES}", "db.shopping"]}),
        ("shop", "shop"),
        (7, 7),
    ],
)
def test_addresses_in_parameters_of_faults_name_the_real_namespaces(value: object, settled: object) -> None:
    app = App(name="shop", version="1", namespace="shop", entry="web", components=(), namespaces={"stores": "Stores"})
    assert settle_hosts({"value": value}, app, HOME) == {"value": settled}
    assert settle_hosts({"value": value}, app, "shop") == {"value": value}


def test_fault_of_a_trial_takes_the_settled_parameters() -> None:
    scenario = load_scenario(find_data_root() / "catalog/scenarios/cart-scaled-to-zero/scenario.yaml").scenario
    use = FaultUse(
        name="address", type="env-value-wrong", target=Reference("Deployment", "checkout"),
        parameters={"name": "CART_ADDR", "value": "cart.otel-demo:9999"},
    )  # fmt: skip
    spec = structs.replace(scenario.spec, faults=(use,), solutions=(), decoys=())
    runbook = resolve(structs.replace(scenario, spec=spec), CATALOG, HOME)
    written = [str(change.to_json()) for change in runbook.faults[0].changes]
    assert any(f"cart.{HOME}:9999" in text for text in written)
