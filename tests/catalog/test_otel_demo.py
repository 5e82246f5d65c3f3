"""The rendered app against facts about the chart of each version (tests/fixtures/otel-demo-*.yaml)."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from jsonschema import Draft202012Validator

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lab.twin.numeric.load_stages import find_share, parse_stages
from scenario_kit.model import App, Reference
from scenario_kit.render import render_app, resolve_options

FIXTURES = Path(__file__).parents[1] / "fixtures"
VERSIONS = ("2.2.0", "3.0.0")
FACTS = {v: yaml.safe_load((FIXTURES / f"otel-demo-{v}.yaml").read_text()) for v in VERSIONS}
GRAPH = yaml.safe_load((FIXTURES / "otel-demo-graph.yaml").read_text())
PARTS = [(v, name) for v in VERSIONS for name in FACTS[v]]
SHARED = ["OTEL_SERVICE_NAME", "OTEL_COLLECTOR_NAME", "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"]
PLATFORM = {"otel-collector-agent", "jaeger", "prometheus", "grafana", "opensearch"}
AS_CHART = {"observability": True, "collector": "Agent", "resources": "Chart", "browserTraffic": True}
CHART_USERS = {"2.2.0": 10, "3.0.0": 5}
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")


@pytest.fixture(scope="module")
def rendered(catalog: Catalog):
    """Objects of a version by profile."""
    apps = [(v, catalog.app("otel-demo", v)) for v in VERSIONS]
    chart = {(v, "chart"): render_app(app, AS_CHART, CHART_USERS[v], "shop") for v, app in apps}
    return chart | {(v, "default"): render_app(app, {}, 50, "shop") for v, app in apps}


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


@pytest.fixture
def app(catalog: Catalog, version) -> App:
    return catalog.app("otel-demo", version)


@pytest.fixture
def chart(rendered, version):
    return rendered[version, "chart"]


@pytest.fixture
def default(rendered, version):
    return rendered[version, "default"]


def by_kind(objects, *kinds):
    return {o["metadata"]["name"]: o for o in objects if o["kind"] in kinds}


@pytest.mark.parametrize(("version", "workloads", "services"), [("2.2.0", 27, 26), ("3.0.0", 30, 28)])
def test_rendered_workload_and_service_counts_match_the_chart(chart, version, workloads, services):
    assert len(by_kind(chart, *WORKLOADS)) == workloads == len(FACTS[version])
    assert len(by_kind(chart, "Service")) == services


@pytest.mark.parametrize(("version", "name"), PARTS)
def test_workload_matches_the_chart(chart, version, name):
    facts = FACTS[version][name]
    workload = by_kind(chart, *WORKLOADS)[name]
    spec = workload["spec"]["template"]["spec"]
    assert workload["kind"] == facts["kind"]
    assert [c["name"] for c in spec["containers"]] == list(facts["containers"])
    assert [c["name"] for c in spec.get("initContainers", [])] == facts["init"]
    assert [v["name"] for v in spec.get("volumes", [])] == facts["volumes"]
    for container in spec["containers"]:
        expected = facts["containers"][container["name"]]
        assert container["image"] == expected["image"]
        assert [p["containerPort"] for p in container.get("ports", [])] == expected["ports"]
        assert [m["mountPath"] for m in container.get("volumeMounts", [])] == expected["mounts"]
        assert container.get("securityContext", {}) == expected["securityContext"]
        assert sorted(k for k in container if k.endswith("Probe")) == expected["probes"]
        assert container.get("resources", {}).get("limits", {}).get("memory") == expected["memory"]
        for field in ("command", "args"):
            assert field not in expected or container.get(field) == expected[field]
        desired = dict(expected["env"])
        if level := expected.get("criticality"):
            desired["OTEL_RESOURCE_ATTRIBUTES"] = f"service.version={version},service.criticality={level}"
        check_env(container, desired, shared=name not in PLATFORM)


def check_env(container, expected, shared):
    names = [e["name"] for e in container.get("env", [])]
    assert len(names) == len(set(names))
    assert names == [*(SHARED if shared else []), *expected]
    for entry in container.get("env", []):
        desired = expected.get(entry["name"])
        if desired == "<fieldRef>":
            assert entry["valueFrom"]
        elif desired and not desired.startswith("<"):
            assert entry["value"] == desired


@pytest.mark.parametrize(("version", "name"), [(v, n) for v, n in PARTS if FACTS[v][n]["service"]])
def test_service_matches_the_chart(chart, version, name):
    facts = FACTS[version][name]["service"]
    service = by_kind(chart, "Service")[facts["name"]]
    assert {p["name"]: [p["port"], p["targetPort"]] for p in service["spec"]["ports"]} == facts["ports"]


@pytest.mark.parametrize("profile", ["chart", "default"])
def test_references_between_objects_resolve(rendered, version, profile):
    objects = rendered[version, profile]
    workloads = by_kind(objects, *WORKLOADS)
    configs, accounts = by_kind(objects, "ConfigMap", "Secret"), by_kind(objects, "ServiceAccount")
    for workload in workloads.values():
        template = workload["spec"]["template"]
        labels, spec = template["metadata"]["labels"], template["spec"]
        assert workload["spec"]["selector"]["matchLabels"].items() <= labels.items()
        assert spec["serviceAccountName"] in accounts
        volumes = {v["name"]: v for v in spec.get("volumes", [])}
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            assert {m["name"] for m in container.get("volumeMounts", [])} <= set(volumes)
        for volume in volumes.values():
            assert "configMap" not in volume or volume["configMap"]["name"] in configs
    for service in by_kind(objects, "Service").values():
        selector = service["spec"]["selector"]
        behind = [
            w for w in workloads.values() if selector.items() <= w["spec"]["template"]["metadata"]["labels"].items()
        ]
        assert len(behind) == 1
        ports = [
            p["containerPort"] for c in behind[0]["spec"]["template"]["spec"]["containers"] for p in c.get("ports", [])
        ]
        names = [p.get("name") for c in behind[0]["spec"]["template"]["spec"]["containers"] for p in c.get("ports", [])]
        if service["metadata"]["name"] not in ("jaeger",):  # the chart itself has Service ports that nothing listens on
            assert all(p["targetPort"] in ports or p["targetPort"] in names for p in service["spec"]["ports"])


def test_default_profile_leaves_out_the_bundled_observability(default, version):
    assert set(by_kind(default, *WORKLOADS)) == {*FACTS[version], "otel-collector"} - PLATFORM
    assert all(o["metadata"]["namespace"] == "shop" for o in default)
    collector = by_kind(default, "Deployment")["otel-collector"]["spec"]["template"]["spec"]
    assert not [p for c in collector["containers"] for p in c["ports"] if "hostPort" in p]
    assert not [v for v in collector["volumes"] if "hostPath" in v]


@pytest.mark.parametrize(
    ("version", "name", "container", "memory"),
    [
        ("2.2.0", "product-catalog", 0, "160Mi"),
        ("2.2.0", "kafka", 0, "1Gi"),
        ("2.2.0", "accounting", 0, "512Mi"),
        ("2.2.0", "postgresql", 0, "512Mi"),
        ("3.0.0", "product-catalog", 0, "160Mi"),
        ("3.0.0", "astronomy-db", 0, "512Mi"),
        ("3.0.0", "otel-collector", 0, "512Mi"),
    ],
)
def test_default_profile_leaves_room_in_memory(default, name, container, memory):
    spec = by_kind(default, "Deployment")[name]["spec"]["template"]["spec"]
    assert spec["containers"][container]["resources"] == {"limits": {"memory": memory}, "requests": {"memory": memory}}


@pytest.mark.parametrize(
    ("version", "options", "users", "expected"),
    [
        ("2.2.0", {}, 50, {"LOCUST_USERS": "50", "LOCUST_SPAWN_RATE": "5", "LOCUST_BROWSER_TRAFFIC_ENABLED": "false"}),
        (
            "2.2.0",
            {"browserTraffic": True},
            3,
            {"LOCUST_USERS": "3", "LOCUST_SPAWN_RATE": "1", "LOCUST_BROWSER_TRAFFIC_ENABLED": "true"},
        ),
        ("3.0.0", {}, 50, {"LOAD_GENERATOR_VUS": "50", "K6_BROWSER_ENABLED": "false"}),
        ("3.0.0", {"browserTraffic": True}, 3, {"LOAD_GENERATOR_VUS": "3", "K6_BROWSER_ENABLED": "true"}),
    ],
)
def test_load_is_set_by_the_scenario(app, options, users, expected):
    objects = render_app(app, options, users, "shop")
    env = by_kind(objects, "Deployment")["load-generator"]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert expected.items() <= {e["name"]: e.get("value") for e in env}.items()


def test_user_spawn_rate_scales_with_users(catalog):
    app = catalog.app("otel-demo", "2.2.0")
    assert variables(render_app(app, {"spawnRate": 25}, 100, "shop"))["LOCUST_SPAWN_RATE"] == "25"
    assert variables(render_app(app, {}, 100, "shop"))["LOCUST_SPAWN_RATE"] == "10"


def variables(objects, name="load-generator"):
    (container,) = by_kind(objects, "Deployment")[name]["spec"]["template"]["spec"]["containers"]
    return {e["name"]: e.get("value") for e in container["env"]}


@pytest.mark.parametrize("profile", ["surge", "ramp"])
def test_load_shape_is_mounted_for_the_load_generator(app, version, profile):
    objects = render_app(app, resolve_options(app, {}, profile), 50, "shop")
    file = {"2.2.0": "stages.py", "3.0.0": "stages.js"}[version]
    script = by_kind(objects, "ConfigMap")["load-generator"]["data"][file]
    assert "LOAD_STAGES" in script
    spec = by_kind(objects, "Deployment")["load-generator"]["spec"]["template"]["spec"]
    assert spec["volumes"] == [{"name": "load", "configMap": {"name": "load-generator"}}]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "load", "mountPath": "/load"}]
    reported = {**variables(objects), "command": " ".join(spec["containers"][0].get("command", []))}
    assert f"/load/{file}" in reported["LOCUST_LOCUSTFILE" if version == "2.2.0" else "command"]
    assert parse_stages(reported["LOAD_STAGES"])


@pytest.mark.parametrize("shape", ["Surge", "Ramp"])
@pytest.mark.parametrize("seconds", [0, 300, 650, 1000, 1700, 2500])
def test_locust_shape_matches_twin_load_stages(catalog, monkeypatch, shape, seconds):
    app = catalog.app("otel-demo", "2.2.0")
    objects = render_app(app, {"shape": shape}, 50, "shop")
    for name, value in variables(objects).items():
        if name.startswith("LO"):
            monkeypatch.setenv(name, value)
    base = type("LoadTestShape", (), {"get_run_time": lambda self: seconds})
    monkeypatch.setitem(sys.modules, "locust", SimpleNamespace(LoadTestShape=base))
    scope = {}
    exec(by_kind(objects, "ConfigMap")["load-generator"]["data"]["stages.py"], scope)
    users, rate = scope["Stages"]().tick()
    assert users == round(50 * find_share(variables(objects)["LOAD_STAGES"], seconds))
    assert rate == 5


def resources(objects, name):
    return by_kind(objects, "Deployment")[name]["spec"]["template"]["spec"]["containers"][0].get("resources", {})


def test_tight_resources_limit_every_component(app):
    objects = render_app(app, {"resources": "Tight"}, 50, "shop")
    for component in app.components:
        if component.role not in ("Platform", "Load"):
            resource_spec = resources(objects, Reference.parse(component.workload).name)
            assert set(resource_spec["limits"]) == {"cpu", "memory"}, component.name
            assert resource_spec["requests"] == resource_spec["limits"]


def test_default_resources_limit_platform_components_only(app):
    objects = render_app(app, {"resources": "None"}, 50, "shop")
    bounded = {n for n, w in by_kind(objects, "Deployment").items() if resources(objects, n)}
    assert bounded <= {"load-generator", "otel-collector", "opamp-server"}


def test_autoscalers_are_named_like_their_deployments(app):
    objects = render_app(app, {"autoscaling": True, "replicas": 2, "replicasOf": {"cart": 3}}, 50, "shop")
    scalers = by_kind(objects, "HorizontalPodAutoscaler")
    assert set(app.options["properties"]["replicasOf"]["propertyNames"]["enum"]) == set(scalers)
    for name, scaler in scalers.items():
        expected = 3 if name == "cart" else 2
        assert scaler["spec"]["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
        assert by_kind(objects, "Deployment")[name]["spec"]["replicas"] == expected == scaler["spec"]["minReplicas"]
        assert scaler["spec"]["maxReplicas"] == 3 * expected
        assert resources(objects, name)["requests"]["cpu"], "an autoscaler on CPU needs a request to measure against"
    others = [d for n, d in by_kind(objects, "Deployment").items() if n not in scalers]
    assert {d["spec"]["replicas"] for d in others} == {1}


def test_options_are_described_with_valid_defaults(catalog):
    for name in catalog.apps():
        for version in catalog.versions(name):
            app = catalog.app(name, version)
            for option, schema in app.options["properties"].items():
                assert schema["description"], option
                assert "default" in schema, option
            Draft202012Validator.check_schema(app.options)
            Draft202012Validator(app.options).validate(resolve_options(app, {}))
            for profile in app.loads:
                resolve_options(app, {}, profile)


def flags_of(objects):
    return json.loads(by_kind(objects, "ConfigMap")["flagd-config"]["data"]["demo.flagd.json"])["flags"]


def test_flags_match_the_chart_and_are_inactive(app, version):
    flags, facts = flags_of(render_app(app, {}, 5, "shop")), GRAPH[version]["flags"]
    assert set(flags) == set(facts)
    for name, flag in flags.items():
        assert flag["state"] == "ENABLED"
        assert flag["defaultVariant"] == facts[name]["default"]
        assert facts[name]["variants"].items() <= flag["variants"].items()
        assert name == "loadGeneratorVUs" or facts[name]["variants"] == flag["variants"]
        assert (name, version) == ("productCatalogFailure", "3.0.0") or "targeting" not in flag


@pytest.mark.parametrize("users", [3, 5, 50, 250])
def test_number_of_users_is_a_flag(catalog, users):
    flag = flags_of(render_app(catalog.app("otel-demo", "3.0.0"), {}, users, "shop"))["loadGeneratorVUs"]
    assert flag["variants"][flag["defaultVariant"]] == users


def test_configuration_is_readable(chart):
    configs = by_kind(chart, "ConfigMap")
    relay = yaml.safe_load(configs["otel-collector-agent"]["data"]["relay.yaml"])
    defined = {*relay["receivers"], *relay["exporters"], *relay["connectors"], *relay["processors"]}
    for pipeline in relay["service"]["pipelines"].values():
        assert {n for part in pipeline.values() for n in part} <= defined
    for name, config in configs.items():
        for key, text in config["data"].items():
            if key.endswith((".yml", ".yaml")):
                assert yaml.safe_load(text), (name, key)
    assert "catalog.products" in configs["postgresql-init"]["data"]["init.sql"]


def test_every_image_is_declared_and_pinned(app, chart, default):
    for workload in by_kind((*chart, *default), *WORKLOADS).values():
        spec = workload["spec"]["template"]["spec"]
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            assert container["image"] in app.images
            assert ":" in container["image"].rpartition("/")[2]
            assert not container["image"].endswith(":latest")


def test_components_and_calls_are_about_rendered_objects(app):
    objects = render_app(app, {"observability": True}, 10, "shop")
    workloads = {f"{o['kind']}/{o['metadata']['name']}": o for o in objects}
    for component in app.components:
        assert component.workload in workloads
        assert not component.service or f"Service/{component.service}" in workloads
    assert sorted(f"{c.caller} -> {c.callee}" for c in app.calls) == sorted(GRAPH[app.version]["calls"])
    for call in app.calls:
        caller = app.component(call.caller)
        assert caller
        assert app.component(call.callee)
        spec = workloads[caller.workload]["spec"]["template"]["spec"]
        names = {e["name"] for c in spec["containers"] for e in c.get("env", [])}
        assert set(call.env) <= names
        assert call.env
    assert app.component(app.entry).role == "Entry"
    assert {Reference.parse(w).kind for w in app.flags.restart} == {"Deployment"}


def test_rendering_is_repeatable(app, default):
    assert render_app(app, {}, 50, "shop") == default


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"browserTrafic": True}, "browserTraffic"),
        ({"browserTraffic": "yes"}, "not of type 'boolean'"),
        ({"collector": "Sidecar"}, "Gateway"),
        ({"replicas": 0}, "minimum"),
        ({"replicasOf": {"carts": 2}}, "carts"),
        ({"replicasOf": {"kafka": 2}}, "kafka"),
        ({"resources": "Huge"}, "Tight"),
    ],
)
def test_unknown_options_are_refused(app, options, part):
    with pytest.raises(AuthoringError) as caught:
        render_app(app, options, 10, "shop")
    assert part in caught.value.message + caught.value.fix


def test_objects_do_not_name_this_project(default):
    assert "scenario" not in json.dumps(default).lower()


def test_kafka_has_dependants_but_no_callers():
    app = Catalog().app("otel-demo", "2.2.0")
    assert app.callers("kafka") == ()
    assert app.dependants("kafka") == ("checkout", "accounting", "fraud-detection")
