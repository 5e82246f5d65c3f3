"""The rendered app against facts about the chart (tests/fixtures/otel-demo-2.2.0.yaml)."""

import json
from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Reference
from scenario_kit.render import app_objects

FACTS = yaml.safe_load((Path(__file__).parents[1] / "fixtures" / "otel-demo-2.2.0.yaml").read_text())
SHARED = ["OTEL_SERVICE_NAME", "OTEL_COLLECTOR_NAME", "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"]
PLATFORM = {"otel-collector-agent", "jaeger", "prometheus", "grafana", "opensearch"}
AS_CHART = {"observability": True, "collector": "Agent", "memory": "Chart", "browserTraffic": True}
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")


@pytest.fixture(scope="module")
def app(catalog: Catalog) -> App:
    return catalog.app("otel-demo", "2.2.0")


@pytest.fixture(scope="module")
def chart(app):
    return app_objects(app, AS_CHART, 10, "shop")


@pytest.fixture(scope="module")
def default(app):
    return app_objects(app, {}, 50, "shop")


def by_kind(objects, *kinds):
    return {o["metadata"]["name"]: o for o in objects if o["kind"] in kinds}


def test_renders_as_many_workloads_and_services_as_the_chart(chart):
    assert len(by_kind(chart, *WORKLOADS)) == 27
    assert len(by_kind(chart, "Service")) == 26


@pytest.mark.parametrize("name", FACTS)
def test_workload_is_as_the_chart_renders_it(chart, name):
    facts = FACTS[name]
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
        check_env(container, expected["env"], shared=name not in PLATFORM)


def check_env(container, expected, shared):
    names = [e["name"] for e in container.get("env", [])]
    assert len(names) == len(set(names))
    assert names == [*(SHARED if shared else []), *expected]
    for entry in container.get("env", []):
        wanted = expected.get(entry["name"])
        if wanted == "<fieldRef>":
            assert entry["valueFrom"]
        elif wanted and not wanted.startswith("<"):
            assert entry["value"] == wanted


@pytest.mark.parametrize("name", [n for n, f in FACTS.items() if f["service"]])
def test_service_is_as_the_chart_renders_it(chart, name):
    facts = FACTS[name]["service"]
    service = by_kind(chart, "Service")[facts["name"]]
    assert {p["name"]: [p["port"], p["targetPort"]] for p in service["spec"]["ports"]} == facts["ports"]


@pytest.mark.parametrize("objects", ["chart", "default"])
def test_parts_fit_together(request, objects):
    objects = request.getfixturevalue(objects)
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


def test_default_profile_leaves_out_the_bundled_observability(default):
    assert set(by_kind(default, *WORKLOADS)) == {*FACTS, "otel-collector"} - PLATFORM
    assert all(o["metadata"]["namespace"] == "shop" for o in default)
    collector = by_kind(default, "Deployment")["otel-collector"]["spec"]["template"]["spec"]
    assert not [p for c in collector["containers"] for p in c["ports"] if "hostPort" in p]
    assert not [v for v in collector["volumes"] if "hostPath" in v]


@pytest.mark.parametrize(
    ("name", "container", "memory"),
    [("product-catalog", 0, "160Mi"), ("kafka", 0, "1Gi"), ("accounting", 0, "512Mi"), ("postgresql", 0, "512Mi")],
)
def test_default_profile_leaves_room_in_memory(default, name, container, memory):
    spec = by_kind(default, "Deployment")[name]["spec"]["template"]["spec"]
    assert spec["containers"][container]["resources"] == {"limits": {"memory": memory}, "requests": {"memory": memory}}


@pytest.mark.parametrize(
    ("options", "users", "expected"),
    [
        ({}, 50, {"LOCUST_USERS": "50", "LOCUST_SPAWN_RATE": "5", "LOCUST_BROWSER_TRAFFIC_ENABLED": "false"}),
        (
            {"browserTraffic": True},
            3,
            {"LOCUST_USERS": "3", "LOCUST_SPAWN_RATE": "1", "LOCUST_BROWSER_TRAFFIC_ENABLED": "true"},
        ),
    ],
)
def test_load_is_set_by_the_scenario(app, options, users, expected):
    objects = app_objects(app, options, users, "shop")
    env = by_kind(objects, "Deployment")["load-generator"]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert expected.items() <= {e["name"]: e.get("value") for e in env}.items()


def test_flags_start_off(default):
    flags = json.loads(by_kind(default, "ConfigMap")["flagd-config"]["data"]["demo.flagd.json"])["flags"]
    assert len(flags) == 15
    for flag in flags.values():
        assert flag["state"] == "ENABLED"
        assert flag["defaultVariant"] == "off"
        assert "off" in flag["variants"]
        assert len(flag["variants"]) > 1
    assert flags["paymentFailure"]["variants"]["90%"] == 0.95


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


def test_every_image_is_known_to_the_app(app, chart, default):
    for workload in by_kind((*chart, *default), *WORKLOADS).values():
        spec = workload["spec"]["template"]["spec"]
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            assert container["image"] in app.images
            assert ":" in container["image"].rpartition("/")[2]
            assert not container["image"].endswith(":latest")


def test_components_and_calls_are_about_rendered_objects(app):
    objects = app_objects(app, {"observability": True}, 10, "shop")
    workloads = {f"{o['kind']}/{o['metadata']['name']}": o for o in objects}
    for component in app.components:
        assert component.workload in workloads
        assert not component.service or f"Service/{component.service}" in workloads
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
    assert app_objects(app, {}, 50, "shop") == default


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"browserTrafic": True}, "browserTraffic"),
        ({"browserTraffic": "yes"}, "not of type 'boolean'"),
        ({"collector": "Sidecar"}, "Gateway"),
    ],
)
def test_unknown_options_are_refused(app, options, part):
    with pytest.raises(AuthoringError) as caught:
        app_objects(app, options, 10, "shop")
    assert part in caught.value.message + caught.value.fix


def test_nothing_in_the_objects_names_this_project(default):
    assert "scenario" not in json.dumps(default).lower()


def test_who_depends_on_kafka_notices_nothing_or_waits():
    app = Catalog().app("otel-demo", "2.2.0")
    assert app.callers("kafka") == ()
    assert app.dependants("kafka") == ("checkout", "accounting", "fraud-detection")
