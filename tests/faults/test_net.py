"""Faults of Services, names, policies, autoscaling, admission, load, control plane and mesh, on rendered apps."""

from __future__ import annotations

import copy
import json

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Change, Fault, Object, Reference
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.observe.jsonpath import find
from scenario_kit.observe.rules import CLUSTER_METRICS, scope
from scenario_kit.render import render_app, render_fault
from scenario_kit.render.objects.lookup import look_up

NAMESPACE = "shop-net"
CATALOG = Catalog()
APP = CATALOG.app("otel-demo", "2.2.0")


@pytest.fixture(scope="module")
def objects() -> tuple[Object, ...]:
    made_up = [copy.deepcopy(o) for o in EXTRA]
    app = render_app(APP, {}, 50, NAMESPACE)
    cart = find_object(app, "Deployment/cart")
    cart["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "100m"
    closed = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    find_object(app, "Deployment/quote")["spec"]["template"]["spec"]["containers"][0]["securityContext"] = closed
    return (*app, *made_up)


def scaler(name: str, *resources: str) -> Object:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": 1,
            "maxReplicas": 4,
            "metrics": [
                *({"type": "Pods", "pods": {"metric": {"name": "p"}}} for _ in resources[1:]),
                *(
                    {
                        "type": "Resource",
                        "resource": {"name": r, "target": {"type": "Utilization", "averageUtilization": 70}},
                    }
                    for r in resources
                ),
            ],
        },
    }


GATEWAY: Object = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "Gateway",
    "metadata": {"name": "front", "namespace": NAMESPACE},
    "spec": {"gatewayClassName": "istio", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]},
}


def ingress(name: str, **backends: str) -> Object:
    paths = [
        {"path": f"/{path}", "pathType": "Prefix", "backend": {"service": {"name": service, "port": {"number": 8080}}}}
        for path, service in backends.items()
    ]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"rules": [{"http": {"paths": paths}}]},
    }


#: Objects that the app does not have by default.
EXTRA: tuple[Object, ...] = (
    GATEWAY,
    ingress("front", images="frontend-proxy", cart="cart"),
    scaler("cart", "cpu", "memory"),
    scaler("frontend", "cpu"),
)


def render(objects: tuple[Object, ...], name: str, target: str, **parameters: object) -> Fault:
    use = FaultUse(name="main", type=name, target=Reference.parse(target), parameters=parameters)
    return render_fault(CATALOG.fault(name), use, APP, objects, NAMESPACE, "scenario")


def simulate(objects: tuple[Object, ...], changes: tuple[Change, ...], app: App = APP) -> tuple[Object, ...]:
    for change in changes:
        objects = change.operation.simulate(objects, app, NAMESPACE)
    return objects


def find_object(objects: tuple[Object, ...], ref: str) -> Object | None:
    return look_up(objects, Reference.parse(ref), NAMESPACE)


def normalise(value):
    """As an API server keeps it: a list of a pod that lost its last item is left out."""
    if isinstance(value, dict):
        return {k: normalise(v) for k, v in value.items() if v != []}
    return [normalise(v) for v in value] if isinstance(value, list) else value


#: Where a variable of the first container stands.
ENV = "spec.template.spec.containers[0].env[?(@.name=='%s')].value"
#: Fault, target, parameters, and values that the objects then have: reference, path, value.
BITES = [
    ("service-selector-mismatch", "Service/cart", {}, [
        ("Service/cart", "spec.selector", {"opentelemetry.io/name": "cart-v2"})]),
    ("service-selector-mismatch", "Service/valkey-cart", {"key": "tier", "value": "a"}, [
        ("Service/valkey-cart", "spec.selector", {"opentelemetry.io/name": "valkey-cart", "tier": "a"})]),
    ("service-selector-captures-foreign-pods", "Service/cart", {}, [
        ("Deployment/ad", "spec.template.metadata.labels['app.kubernetes.io/instance']", "{set}"),
        ("Deployment/cart", "spec.template.metadata.labels['app.kubernetes.io/instance']", "{set}"),
        ("Service/cart", "spec.selector", {"app.kubernetes.io/instance": "{set}"})]),
    ("service-selector-captures-foreign-pods", "Service/frontend", {"foreign": ["Deployment/ad"]}, [
        ("Deployment/ad", "spec.template.metadata.labels['app.kubernetes.io/instance']", "{set}")]),
    ("service-deleted", "Service/cart", {}, []),
    ("service-deleted", "Service/kafka", {}, []),
    ("service-internal-traffic-local", "Service/cart", {}, [("Service/cart", "spec.internalTrafficPolicy", "Local")]),
    ("service-internal-traffic-local", "Service/postgresql", {"caller": "accounting"}, [
        ("Deployment/postgresql", "$.spec.template.spec.affinity..matchLabels", None)]),
    ("network-policy-deny-ingress", "Deployment/cart", {}, []),
    ("network-policy-deny-ingress", "Deployment/postgresql", {}, []),
    ("network-policy-deny-egress", "Deployment/cart", {}, []),
    ("network-policy-deny-egress", "Deployment/accounting", {"allowDNS": False}, []),
    ("pod-dns-policy-wrong", "Deployment/cart", {}, [("Deployment/cart", "spec.template.spec.dnsPolicy", "Default")]),
    ("pod-dns-policy-wrong", "Deployment/frontend", {"policy": "None"}, [
        ("Deployment/frontend", "spec.template.spec.dnsConfig.nameservers[0]", "192.0.2.53")]),
    ("coredns-name-blocked", "Service/cart", {}, []),
    ("coredns-name-blocked", "Service/frontend", {"reach": "Zone"}, []),
    ("hpa-target-too-low", "HorizontalPodAutoscaler/cart", {}, [
        ("HorizontalPodAutoscaler/cart", "spec.metrics[1].resource.target.averageUtilization", 1)]),
    ("hpa-target-too-low", "HorizontalPodAutoscaler/frontend", {"percent": 20}, [
        ("HorizontalPodAutoscaler/frontend", "spec.metrics[0].resource.target.averageUtilization", 20)]),
    ("hpa-missing-cpu-request", "Deployment/cart", {}, []),
    ("cronjob-overwrites-limits", "Deployment/cart", {}, [
        ("Deployment/cart", "spec.template.spec.containers[0].resources.limits.memory", "12Mi")]),
    ("cronjob-overwrites-limits", "Deployment/ad", {"memory": "40Mi"}, [
        ("Deployment/ad", "spec.template.spec.containers[0].resources.requests.memory", "40Mi")]),
    ("admission-webhook-unavailable", "Deployment/cart", {}, []),
    ("admission-webhook-unavailable", "Deployment/kafka", {"timeoutSeconds": 2}, []),
    ("admission-webhook-latency-cumulative", "Deployment/cart", {}, []),
    ("admission-webhook-latency-cumulative", "Deployment/ad", {"timeoutsSeconds": [10, 10, 10, 10]}, []),
    ("pod-security-restricted", "Deployment/cart", {}, []),
    ("pod-security-restricted", "Deployment/frontend", {}, []),
    ("rbac-permission-missing", "Deployment/cart", {}, [
        ("Deployment/cart", "spec.template.spec.initContainers[?(@.name=='settings')].command[0]", "kubectl")]),
    ("rbac-permission-missing", "Deployment/ad", {"verbs": ["list"]}, []),
    (
        "traffic-surge",
        "Deployment/load-generator",
        {},
        [("Deployment/load-generator", ENV % "LOCUST_USERS", "500"),
         ("Deployment/load-generator", ENV % "LOCUST_SPAWN_RATE", "50")],
    ),
    (
        "traffic-surge",
        "Deployment/load-generator",
        {"factor": 3},
        [("Deployment/load-generator", ENV % "LOCUST_USERS", "150")],
    ),
    ("traffic-spike", "Deployment/load-generator", {}, []),
    ("traffic-spike", "Deployment/load-generator", {"factor": 3, "seconds": 10}, []),
    ("browser-load", "Deployment/load-generator", {}, []),
    ("api-server-request-surge", "Deployment/cart", {}, []),
    ("api-server-request-surge", "Deployment/ad", {"requestsPerSecond": 3, "replicas": 1}, []),
    ("api-server-memory-stress", "kube-system/Pod/kube-apiserver-one", {}, []),
    ("etcd-io-latency", "kube-system/Pod/etcd-one", {"delayMilliseconds": 20}, []),
    ("mesh-dataplane-disabled", "Deployment/cart", {}, []),
    ("mesh-strict-mtls", "Deployment/cart", {}, [
        ("Deployment/cart", "spec.template.metadata.labels['istio.io/dataplane-mode']", "none")]),
    ("mesh-strict-mtls", "Deployment/frontend", {"label": "sidecar.istio.io/inject"}, [
        ("Deployment/frontend", "spec.template.metadata.labels['sidecar.istio.io/inject']", "false")]),
    ("mesh-gateway-deny", "Gateway.gateway.networking.k8s.io/front", {}, []),
    ("ingress-backend-wrong", "Ingress/front", {}, [
        ("Ingress/front", "spec.rules[0].http.paths[0].backend.service.name", "frontend")]),
    ("ingress-backend-wrong", "Ingress/front", {"path": "/cart", "service": "product-reviews"}, [
        ("Ingress/front", "spec.rules[0].http.paths[1].backend.service.port.number", 3551)]),
    ("pod-ip-pool-exhausted", "Deployment/cart", {}, []),
    ("pod-ip-pool-exhausted", "Deployment/ad", {"fillers": 20}, []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "target", "parameters", "values"), BITES)
def test_changes_queries_and_fixes_fit_the_app(objects, name, target, parameters, values):
    result = render(objects, name, target, **parameters)
    broken = simulate(objects, result.changes)
    for ref, path, value in values:
        if value is not None:
            desired = _filled(value, result)
            assert find(find_object(broken, ref), path) == [desired]
    for check in (*result.effect, *result.undone):
        if check.query:
            scoped = scope(check.query.expr, NAMESPACE)
            assert NAMESPACE in scoped or any(name in scoped for name in CLUSTER_METRICS)
    assert result.effect[0].query is None
    assert any(c.query for c in result.effect), "an effect is more than the object that was written"
    for cause in result.causes:
        repaired = simulate(broken, tuple(c for c in cause.fix if not c.operation.fault))
        before = find_object(objects, cause.ref)
        if before is not None and all(not c.operation.fault for c in cause.fix):
            assert normalise(find_object(repaired, cause.ref)) == normalise(before)
        elif before is None and any(c.operation.deletes for c in cause.fix):
            assert find_object(repaired, cause.ref) is None
    for decoy in result.decoys:
        simulate(broken, decoy.changes)


def _filled(value, result: Fault):
    """``{set}`` stands for the neutral value of the fault."""
    names = [c.operation.patch for c in result.changes if c.operation.patches and c.operation.type == "Json"]
    neutral = next(iter(names[0][0]["value"].values())) if names and isinstance(names[0][0]["value"], dict) else ""
    if isinstance(value, dict):
        return {k: neutral if v == "{set}" else v for k, v in value.items()}
    return neutral if value == "{set}" else value


REFUSED = [
    ("service-deleted", "Service/otel-collector", {}, "SK304", "nobody reaches its pods"),
    ("service-internal-traffic-local", "Service/otel-collector", {}, "SK304", "nobody reaches its pods"),
    ("coredns-name-blocked", "Service/otel-collector", {}, "SK304", "nobody reaches its pods"),
    ("hpa-target-too-low", "HorizontalPodAutoscaler/cart", {"percent": 70}, "SK304", "70 percent already"),
    ("hpa-target-too-low", "HorizontalPodAutoscaler/frontend", {"resource": "memory"}, "SK304", "does not look at"),
    ("hpa-missing-cpu-request", "Deployment/ad", {}, "SK304", "no autoscaler scales"),
    ("hpa-missing-cpu-request", "Deployment/frontend", {}, "SK304", "requests no cpu"),
    ("hpa-missing-cpu-request", "Deployment/frontend", {"resource": "memory"}, "SK304", "does not look at memory"),
    ("cronjob-overwrites-limits", "Deployment/cart", {"memory": "256Mi"}, "SK304", "its limit is 256Mi"),
    ("cronjob-overwrites-limits", "Deployment/cart", {"memory": "1Gi"}, "SK304", "no more than that"),
    (
        "admission-webhook-latency-cumulative",
        "Deployment/cart",
        {"timeoutsSeconds": [1, 2, 3, 4]},
        "SK304",
        "10 s together",
    ),
    (
        "admission-webhook-latency-cumulative",
        "Deployment/cart",
        {"timeoutsSeconds": [30, 30, 9, 9]},
        "SK304",
        "even without",
    ),
    ("pod-security-restricted", "Deployment/quote", {}, "SK304", "no more than the standard allows"),
    ("traffic-surge", "Deployment/cart", {}, "SK304", "not the load generator"),
    ("traffic-spike", "Deployment/cart", {}, "SK304", "not the load generator"),
    ("mesh-strict-mtls", "Deployment/valkey-cart", {}, "SK304", "talks to nobody"),
    ("mesh-gateway-deny", "Gateway.gateway.networking.k8s.io/front", {"methods": ["BREW"]}, "SK109", "is not one of"),
    ("ingress-backend-wrong", "Ingress/front", {"service": "frontend-proxy"}, "SK304", "leads there already"),
    ("ingress-backend-wrong", "Ingress/front", {"service": "absent"}, "SK110", "is not among the app's objects"),
    ("rbac-permission-missing", "Deployment/cart", {"verbs": ["get"]}, "SK109", "is not one of"),
    ("service-selector-mismatch", "Service/cart", {"value": "cart"}, "SK304", "carry that label"),
    ("service-selector-mismatch", "Service/cart", {"value": "frontend"}, "SK304", "frontend carry that label"),
    (
        "service-selector-captures-foreign-pods",
        "Service/cart",
        {"foreign": ["Deployment/cart"]},
        "SK304",
        "not foreign",
    ),
    ("service-selector-captures-foreign-pods", "Service/cart", {"label": "opentelemetry.io/name"}, "SK304", "already"),
    ("service-internal-traffic-local", "Service/cart", {"caller": "ad"}, "SK304", "does not call"),
    ("network-policy-deny-ingress", "Deployment/accounting", {}, "SK304", "nobody connects"),
    ("network-policy-deny-egress", "Deployment/valkey-cart", {}, "SK304", "connects to nobody"),
    ("pod-dns-policy-wrong", "Deployment/valkey-cart", {}, "SK304", "looks up no names"),
    ("pod-dns-policy-wrong", "Deployment/cart", {"policy": "ClusterFirst"}, "SK109", "is not one of"),
]


@pytest.mark.parametrize(("name", "target", "parameters", "code", "part"), REFUSED)
def test_ineffective_network_fault_is_refused(objects, name, target, parameters, code, part):
    with pytest.raises(AuthoringError) as caught:
        render(objects, name, target, **parameters)
    assert [f.code for f in caught.value.findings] == [code]
    assert part in caught.value.message + "".join(f.message for f in caught.value.findings)


HOTEL = CATALOG.app("hotel-reservation", CATALOG.versions("hotel-reservation")[0])
THROUGH_SERVICES = ("service-deleted", "service-selector-mismatch", "service-target-port-wrong", "coredns-name-blocked")


@pytest.mark.parametrize("name", [*THROUGH_SERVICES, "service-internal-traffic-local"])
def test_registry_bypassed_service_is_no_target(name):
    objects = render_app(HOTEL, {}, 50, NAMESPACE)
    bypassed = FaultUse(name="main", type=name, target=Reference("Service", "geo"))
    with pytest.raises(AuthoringError, match="nobody reaches its pods"):
        render_fault(CATALOG.fault(name), bypassed, HOTEL, objects, NAMESPACE, "scenario")
    used = FaultUse(name="main", type=name, target=Reference("Service", "memcached-rate"))
    assert render_fault(CATALOG.fault(name), used, HOTEL, objects, NAMESPACE, "scenario").changes


def test_open_load_surge_multiplies_its_rate():
    objects = render_app(HOTEL, {}, 50, NAMESPACE)
    use = FaultUse(
        name="main", type="traffic-surge", target=Reference("Deployment", "load-generator"), parameters={"factor": 4}
    )
    changes = render_fault(CATALOG.fault("traffic-surge"), use, HOTEL, objects, NAMESPACE, "scenario").changes
    before = {e["name"]: e["value"] for e in _env(objects)}
    after_ = {e["name"]: e["value"] for e in _env(simulate(objects, changes))}
    assert int(after_["REQUESTS_PER_SECOND"]) == 4 * int(before["REQUESTS_PER_SECOND"])


def test_surge_changes_user_flag_variant_and_names_its_store():
    app = CATALOG.app("otel-demo", "3.0.0")
    objects = render_app(app, {}, 50, NAMESPACE)
    use = FaultUse(
        name="main", type="traffic-surge", target=Reference("Deployment", "load-generator"), parameters={"factor": 4}
    )
    surge = render_fault(CATALOG.fault("traffic-surge"), use, app, objects, NAMESPACE, "scenario")
    (change,) = surge.changes
    (cause,) = surge.causes
    assert change.to_json() == {"setFlag": {"flag": "loadGeneratorVUs", "variant": "200", "value": 200.0}}
    assert (cause.ref, cause.field) == ("ConfigMap/flagd-config", "data")
    assert [s.name for s in surge.solutions] == ["end-surge"]
    usual = simulate(simulate(objects, surge.changes, app), cause.fix, app)
    document = next(o for o in usual if o["metadata"]["name"] == "flagd-config")["data"]["demo.flagd.json"]
    assert json.loads(document)["flags"]["loadGeneratorVUs"]["defaultVariant"] == "50"


def _env(objects):
    return find_object(objects, "Deployment/load-generator")["spec"]["template"]["spec"]["containers"][0]["env"]
