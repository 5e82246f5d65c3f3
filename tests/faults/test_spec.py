"""Faults of workload specs, init containers and resources: rendered, simulated, repaired, and refused."""

import copy
import json
import re

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Reference
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.render import render_app, render_fault
from scenario_kit.render.apps.app import resolve_options

NAMESPACE = "shop-test"
OTEL, HOTEL = "otel-demo", "hotel-reservation"
HOTEL_CLAIMS = "hotel-reservation with claims"
CRON = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "cleanup", "namespace": NAMESPACE},
    "spec": {
        "schedule": "*/5 * * * *",
        "jobTemplate": {
            "spec": {"template": {"spec": {"containers": [{"name": "cleanup", "image": "busybox:1.37.0"}]}}}
        },
    },
}
PROBED = {
    "readinessProbe": {"httpGet": {"path": "/up", "port": 8080}, "periodSeconds": 7},
    "livenessProbe": {"exec": {"command": ["true"]}},
    "startupProbe": {"tcpSocket": {"port": 8080}, "failureThreshold": 30},
}

#: Fault, app, target, parameters beyond the defaults.
RENDERED = [
    ("container-image-wrong-architecture", OTEL, "Deployment/cart", {}),
    ("container-image-wrong-architecture", HOTEL, "Deployment/geo", {"architecture": "arm64"}),
    ("container-image-incompatible-version", HOTEL_CLAIMS, "Deployment/mongodb-geo", {}),
    ("container-image-incompatible-version", HOTEL_CLAIMS, "Deployment/mongodb-rate", {"image": "mongo:7.0.14"}),
    ("container-command-not-found", OTEL, "Deployment/payment", {}),
    ("container-command-not-found", OTEL, "Deployment/flagd", {"container": "flagd-ui", "command": ["/app/start"]}),
    ("container-command-wrong-binary", HOTEL, "Deployment/geo", {}),
    ("container-command-wrong-binary", HOTEL, "Deployment/frontend", {"command": ["user"]}),
    ("readiness-probe-failing", OTEL, "Deployment/cart", {}),
    ("readiness-probe-failing", OTEL, "Deployment/quote", {"path": "/ok", "port": 8081}),
    ("liveness-probe-failing", OTEL, "Deployment/cart", {}),
    ("liveness-probe-failing", OTEL, "Deployment/quote", {"periodSeconds": 5}),
    ("liveness-probe-too-aggressive", OTEL, "Deployment/cart", {}),
    ("liveness-probe-too-aggressive", OTEL, "Deployment/quote", {"probe": "Startup"}),
    ("sidecar-port-conflict", OTEL, "Deployment/cart", {}),
    ("sidecar-port-conflict", OTEL, "Deployment/flagd", {"port": 8016}),
    ("host-port-conflict", OTEL, "Deployment/cart", {}),
    ("host-port-conflict", HOTEL, "Deployment/mongodb-geo", {"hostPort": 9100}),
    ("rollout-strategy-unsafe", OTEL, "Deployment/cart", {}),
    ("rollout-strategy-unsafe", OTEL, "Deployment/quote", {}),
    ("ephemeral-port-range-too-small", OTEL, "Deployment/frontend", {}),
    ("ephemeral-port-range-too-small", OTEL, "Deployment/checkout", {"first": 40000, "ports": 4}),
    ("cronjob-sidecar-never-completes", OTEL, "CronJob/cleanup", {}),
    ("cronjob-sidecar-never-completes", HOTEL, "CronJob/cleanup", {"overdueSeconds": 60}),
    ("init-container-crash", OTEL, "Deployment/cart", {}),
    ("init-container-crash", OTEL, "Deployment/quote", {"configMapName": "quote-rules"}),
    ("init-container-hang", OTEL, "Deployment/cart", {}),
    ("init-container-hang", OTEL, "Deployment/quote", {"command": ["tail", "-f", "/dev/null"]}),
    ("init-container-dependency-missing", OTEL, "Deployment/cart", {}),
    ("init-container-dependency-missing", OTEL, "Deployment/quote", {"serviceName": "prices"}),
    ("memory-limit-too-low", OTEL, "Deployment/cart", {}),
    ("memory-limit-too-low", HOTEL, "Deployment/geo", {"memoryMebibytes": 8}),
    ("cpu-limit-too-low", OTEL, "Deployment/frontend", {}),
    ("cpu-limit-too-low", HOTEL, "Deployment/geo", {"cpuMillicores": 50}),
    ("resource-limits-removed", OTEL, "Deployment/cart", {}),
    ("resource-limits-removed", HOTEL, "Deployment/geo", {}),
    ("resource-quota-exceeded", OTEL, "Deployment/cart", {}),
    ("resource-quota-exceeded", HOTEL, "Deployment/geo", {"hard": {"pods": "3"}}),
    ("resource-quota-requires-limits", OTEL, "Deployment/cart", {}),
    ("resource-quota-requires-limits", HOTEL, "Deployment/geo", {}),
    ("limit-range-too-low", OTEL, "Deployment/cart", {}),
    ("limit-range-too-low", HOTEL, "Deployment/geo", {"memoryMebibytes": 6}),
    ("file-descriptor-exhaustion", OTEL, "Deployment/flagd", {}),
    ("file-descriptor-exhaustion", HOTEL, "Deployment/frontend", {"openFiles": 32}),
    ("shared-memory-too-small", OTEL, "Deployment/cart", {}),
    ("shared-memory-too-small", HOTEL, "Deployment/geo", {"sizeMebibytes": 256}),
    ("noisy-neighbor", OTEL, "Deployment/cart", {}),
    ("noisy-neighbor", HOTEL, "Deployment/geo", {"workers": 8}),
]

REFUSED = [
    (
        "container-image-wrong-architecture",
        OTEL,
        "Deployment/cart",
        {"image": "ghcr.io/open-telemetry/demo:2.2.0-cart"},
    ),
    ("container-image-incompatible-version", HOTEL, "Deployment/mongodb-geo", {}),
    ("container-image-incompatible-version", HOTEL_CLAIMS, "Deployment/memcached-rate", {}),
    ("container-command-not-found", OTEL, "Deployment/cart", {"command": ["sh", "-c", "x"]}),
    ("container-command-not-found", HOTEL, "Deployment/geo", {"command": ["geo", "-v"]}),
    ("container-command-wrong-binary", OTEL, "Deployment/cart", {}),
    ("container-command-wrong-binary", HOTEL, "Deployment/geo", {"command": ["geo"]}),
    ("liveness-probe-too-aggressive", OTEL, "Deployment/accounting", {}),
    ("sidecar-port-conflict", OTEL, "Deployment/accounting", {}),
    ("host-port-conflict", OTEL, "Deployment/accounting", {}),
    ("rollout-strategy-unsafe", OTEL, "Deployment/cart", {"port": 8080}),
    ("rollout-strategy-unsafe", HOTEL, "Deployment/mongodb-geo", {}),
    ("init-container-crash", OTEL, "Deployment/cart", {"configMapName": "flagd-config"}),
    ("limit-range-too-low", OTEL, "Deployment/payment", {"memoryMebibytes": 4096}),
    # Only its init container has no limit, and would not notice this one.
    ("limit-range-too-low", OTEL, "Deployment/checkout", {"memoryMebibytes": 64}),
    ("ephemeral-port-range-too-small", OTEL, "Deployment/payment-db", {}),
    ("init-container-dependency-missing", OTEL, "Deployment/cart", {"serviceName": "valkey-cart"}),
    ("memory-limit-too-low", OTEL, "Deployment/cart", {"memoryMebibytes": 256}),
    ("cpu-limit-too-low", HOTEL, "Deployment/geo", {"cpuMillicores": 1000}),
    ("resource-limits-removed", OTEL, "Deployment/llm", {}),
    ("resource-quota-requires-limits", OTEL, "Deployment/payment", {}),
    ("file-descriptor-exhaustion", OTEL, "Deployment/cart", {}),
    ("file-descriptor-exhaustion", OTEL, "Deployment/flagd", {"openFiles": 200}),
]


@pytest.fixture(scope="module")
def catalog():
    return Catalog()


@pytest.fixture(scope="module")
def worlds(catalog):
    def world(name, options):
        app = catalog.app(name, catalog.versions(name)[0])
        objects = render_app(app, resolve_options(app, options), 50, NAMESPACE, templates=catalog.templates(name))
        return app, (*objects, copy.deepcopy(CRON))

    return {OTEL: world(OTEL, {}), HOTEL: world(HOTEL, {}), HOTEL_CLAIMS: world(HOTEL, {"storage": "Claim"})}


def render(catalog, name, app, objects, target, parameters):
    use = FaultUse(name="main", type=name, target=Reference.parse(target), parameters=parameters)
    return render_fault(catalog.fault(name), use, app, objects, NAMESPACE, "s")


def simulate(objects, changes, app):
    for change in changes:
        objects = change.operation.simulate(objects, app, NAMESPACE)
    return objects


def tidy(obj):
    """Without the empty lists and maps that removing their last item leaves."""
    if isinstance(obj, dict):
        return {k: v for k, v in ((k, tidy(v)) for k, v in obj.items()) if v not in ({}, [], None)}
    return [tidy(v) for v in obj] if isinstance(obj, list) else obj


def find_object(objects, target):
    kind, _, name = target.partition("/")
    return tidy(next(o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name)))


@pytest.mark.parametrize(("name", "app", "target", "parameters"), RENDERED)
def test_fault_breaks_target_and_fix_restores_it(catalog, worlds, name, app, target, parameters):
    app, objects = worlds[app]
    result = render(catalog, name, app, objects, target, parameters)
    broken = simulate(objects, result.changes, app)
    assert broken != objects
    fixes = [change for entity in result.entities for change in entity.fix]
    assert find_object(simulate(broken, fixes, app), target) == find_object(objects, target) or name in (
        "init-container-crash",  # what it carries stays, and passes
    )
    for procedure in (*result.solutions, *result.decoys):
        assert procedure.changes
        simulate(broken, procedure.changes, app)


@pytest.mark.parametrize(("name", "app", "target", "parameters"), RENDERED)
def test_effect_has_object_and_query_checks(catalog, worlds, name, app, target, parameters):
    app, objects = worlds[app]
    result = render(catalog, name, app, objects, target, parameters)
    assert any(check.object for check in result.effect)
    assert any(check.query for check in result.effect)
    assert result.undone
    assert result.causes
    assert all(entity.fix for entity in result.causes)
    if "spec" in str(result.causes[0].field) and "Deployment" in target and name != "cpu-limit-too-low":
        assert result.rollout.drop_old or name == "rollout-strategy-unsafe"


@pytest.mark.parametrize(("name", "app", "target", "parameters"), REFUSED)
def test_ineffective_fault_is_refused(catalog, worlds, name, app, target, parameters):
    app, objects = worlds[app]
    with pytest.raises(AuthoringError) as caught:
        render(catalog, name, app, objects, target, parameters)
    assert {f.code for f in caught.value.findings} <= {"SK304", "SK110"}


def with_probes(objects, target):
    """The objects with all three probes at the first container of the target."""
    result = copy.deepcopy(objects)
    found_ = next(o for o in result if f"{o['kind']}/{o['metadata']['name']}" == target)
    found_["spec"]["template"]["spec"]["containers"][0].update(copy.deepcopy(PROBED))
    return result


@pytest.mark.parametrize(
    ("name", "key", "parameters"),
    [
        ("readiness-probe-failing", "readinessProbe", {}),
        ("liveness-probe-failing", "livenessProbe", {}),
        ("liveness-probe-too-aggressive", "livenessProbe", {}),
        ("liveness-probe-too-aggressive", "startupProbe", {"probe": "Startup"}),
        ("rollout-strategy-unsafe", "readinessProbe", {}),
    ],
)
def test_existing_probe_is_replaced_and_restored(catalog, worlds, name, key, parameters):
    app, objects = worlds[OTEL]
    objects = with_probes(objects, "Deployment/cart")
    result = render(catalog, name, app, objects, "Deployment/cart", parameters)
    broken = simulate(objects, result.changes, app)
    probe = find_object(broken, "Deployment/cart")["spec"]["template"]["spec"]["containers"][0][key]
    assert len({"httpGet", "exec", "tcpSocket"} & set(probe)) == 1
    assert probe != PROBED[key]
    fixed = find_object(simulate(broken, result.causes[0].fix, app), "Deployment/cart")["spec"]["template"]["spec"]
    assert {k: fixed["containers"][0][k] for k in PROBED} == PROBED


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("readiness-probe-failing", {"path": "/up", "port": 8080}), ("liveness-probe-failing", {"path": "/", "port": 81})],
)
def test_equal_probe_is_refused(catalog, worlds, name, parameters):
    app, objects = worlds[OTEL]
    objects = with_probes(objects, "Deployment/cart")
    cart = next(o for o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == "cart")
    cart["spec"]["template"]["spec"]["containers"][0]["livenessProbe"] = {"httpGet": {"port": 81}}
    with pytest.raises(AuthoringError) as caught:
        render(catalog, name, app, objects, "Deployment/cart", parameters)
    assert [f.code for f in caught.value.findings] == ["SK304"]


@pytest.mark.parametrize(("parameters", "seconds"), [({}, 900), ({"periodSeconds": 60, "failureThreshold": 10}, 2100)])
def test_probe_that_kills_rarely_is_given_more_time(catalog, worlds, parameters, seconds):
    app, objects = worlds[OTEL]
    result = render(catalog, "liveness-probe-failing", app, objects, "Deployment/cart", parameters)
    assert [c.within_seconds for c in result.effect if c.query] == [seconds]


@pytest.mark.parametrize(("seconds", "expected"), [(24, True), (25, False)])
def test_program_that_is_killed_rarely_is_not_predicted_to_crash_loop(catalog, seconds, expected):
    parameters = {"periodSeconds": seconds, "failureThreshold": 10}
    cart = Reference("Deployment", "cart")
    made = draft(Answers("otel-demo", "2.2.0", cart, "liveness-probe-failing", parameters, author="A"), catalog)
    assert ("KubePodCrashLooping" in {alert.name for alert in made.alerts}) is expected


@pytest.mark.parametrize("name", sorted({case[0] for case in RENDERED}))
def test_object_names_do_not_reveal_the_fault(catalog, worlds, name):
    target, parameters, world = next((t, p, w) for n, w, t, p in RENDERED if n == name)
    app, objects = worlds[world]
    reported = json.dumps(
        [c.to_json() for c in render(catalog, name, app, objects, target, parameters).changes]
    ).lower()
    for word in ("chaos", "fault", "inject", "noisy", "break", "broken", "conflict", "wrong", "exhaust"):
        assert not re.search(rf"\b{word}", reported)
