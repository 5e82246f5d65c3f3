"""The rendered app against facts about its published manifests (tests/fixtures/hotel-reservation-6ecb097.yaml)."""

import json
from pathlib import Path

import pytest
import yaml

from scenario_kit.model import App
from scenario_kit.render import render_app

FACTS = yaml.safe_load((Path(__file__).parents[1] / "fixtures" / "hotel-reservation-6ecb097.yaml").read_text())
WORKLOADS = FACTS["workloads"]
#: Ours beside the published ones: what makes metrics of spans, and traffic.
ADDED = {"otel-collector", "load-generator"}
PROFILES = [
    {},
    {"autoscaling": True, "replicas": 2, "resources": "Tight"},
    {"storage": "Claim", "resources": "Roomy", "shape": "Surge", "replicasOf": {"rate": 3}},
    {"resources": "None", "autoscaling": True},
    {"shape": "Ramp", "separateStores": True, "storage": "Claim"},
]


@pytest.fixture(scope="module")
def app(catalog) -> App:
    return catalog.app("hotel-reservation", "6ecb097")


@pytest.fixture(scope="module")
def default(app):
    return render_app(app, {}, 50, "hotel")


def by_kind(objects, kind):
    return {o["metadata"]["name"]: o for o in objects if o["kind"] == kind}


def test_renders_the_published_workloads_and_two_of_ours(default):
    assert set(by_kind(default, "Deployment")) == {*WORKLOADS, *ADDED}
    assert set(by_kind(default, "Service")) == {*WORKLOADS, "otel-collector"}


@pytest.mark.parametrize("name", WORKLOADS)
def test_workload_matches_published_manifest(app, default, name):
    facts, deployment = WORKLOADS[name], by_kind(default, "Deployment")[name]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["name"] == facts["container"]
    assert container["image"].partition(":")[0] == facts["image"].partition(":")[0]
    assert container["image"] in app.images
    assert not container["image"].endswith(":latest")
    assert container.get("command") == facts.get("command")
    ports = [f"{p['containerPort']}{'/UDP' if p.get('protocol') == 'UDP' else ''}" for p in container["ports"]]
    assert ports == facts["ports"] + (["4317"] if name == "jaeger" else [])
    env = {e["name"]: e["value"] for e in container.get("env", [])}
    if name == "jaeger":
        assert env == {"MEMORY_MAX_TRACES": "5000"}
    else:
        assert env == facts["env"] | ({"JAEGER_SAMPLE_RATIO": "1"} if "JAEGER_SAMPLE_RATIO" in facts["env"] else {})
    assert container["resources"] == facts["resources"]
    assert deployment["spec"].get("strategy", {}).get("type", "RollingUpdate") == facts["strategy"]
    service = by_kind(default, "Service")[name]
    rendered = {p["name"]: [p["port"], p["targetPort"], p["protocol"]] for p in service["spec"]["ports"]}
    assert rendered == facts["service"] | ({"4317": [4317, 4317, "TCP"]} if name == "jaeger" else {})


@pytest.mark.parametrize("name", [n for n, f in WORKLOADS.items() if f["claims"]])
def test_store_volumes_match_published_mounts(app, name):
    objects = render_app(app, {"storage": "Claim"}, 50, "hotel")
    spec = by_kind(objects, "Deployment")[name]["spec"]["template"]["spec"]
    claims = {v["name"]: v["persistentVolumeClaim"]["claimName"] for v in spec["volumes"]}
    assert claims == WORKLOADS[name]["claims"]
    assert set(claims.values()) <= set(by_kind(objects, "PersistentVolumeClaim"))
    assert [m["mountPath"] for m in spec["containers"][0]["volumeMounts"]] == WORKLOADS[name]["mounts"]


def test_calls_match_the_published_facts(app):
    registry = {f"{name} -> consul" for name in ("frontend", *FACTS["registered"])}
    assert {f"{c.caller} -> {c.callee}" for c in app.calls} == {*FACTS["edges"], *registry}


def test_addresses_name_rendered_services(default):
    config = json.loads(by_kind(default, "ConfigMap")["hotel-reservation-config"]["data"]["config.json"])
    services = by_kind(default, "Service")
    for key, value in config.items():
        if key.endswith("ddress"):
            host, _, port = value.partition(":")
            assert int(port) in [p["port"] for p in services[host]["spec"]["ports"]], key


def test_collector_is_configured_consistently(default):
    relay = yaml.safe_load(by_kind(default, "ConfigMap")["otel-collector"]["data"]["relay.yaml"])
    defined = {*relay["receivers"], *relay["exporters"], *relay["connectors"], *relay["processors"]}
    for pipeline in relay["service"]["pipelines"].values():
        assert {n for part in pipeline.values() for n in part} <= defined


def test_autoscalers_are_named_like_their_deployments(app):
    objects = render_app(app, {"autoscaling": True, "replicas": 2, "replicasOf": {"rate": 4}}, 50, "hotel")
    scalers = by_kind(objects, "HorizontalPodAutoscaler")
    assert set(scalers) == {"frontend", *FACTS["registered"]}
    for name, scaler in scalers.items():
        replicas = 4 if name == "rate" else 2
        assert scaler["spec"]["scaleTargetRef"]["name"] == name
        assert by_kind(objects, "Deployment")[name]["spec"]["replicas"] == scaler["spec"]["minReplicas"] == replicas
        assert scaler["spec"]["maxReplicas"] == 3 * replicas


@pytest.mark.parametrize(("autoscaling", "requests"), [(False, {}), (True, {"requests": {"cpu": "100m"}})])
def test_without_resources_only_an_autoscaler_needs_a_request(app, autoscaling, requests):
    deployments = by_kind(render_app(app, {"resources": "None", "autoscaling": autoscaling}, 50, "hotel"), "Deployment")
    for name in ("frontend", "memcached-rate", "mongodb-rate"):
        (container,) = deployments[name]["spec"]["template"]["spec"]["containers"]
        assert container["resources"] == (requests if name == "frontend" else {})


@pytest.mark.parametrize("profile", ["steady", "surge", "ramp"])
def test_load_follows_users_and_profile(app, profile):
    objects = render_app(app, app.loads[profile].options, 30, "hotel")
    (container,) = by_kind(objects, "Deployment")["load-generator"]["spec"]["template"]["spec"]["containers"]
    env = {e["name"]: e["value"] for e in container["env"]}
    assert env["REQUESTS_PER_SECOND"] == "60"
    stages = [tuple(map(int, s.split(":"))) for s in env["LOAD_STAGES"].split()]
    assert all(percent > 0 and seconds >= 0 for percent, seconds in stages)


def test_objects_do_not_name_this_project(default):
    assert "scenario-kit" not in json.dumps(default).lower()


@pytest.mark.lab
@pytest.mark.parametrize("options", PROFILES)
def test_api_server_accepts_every_object(app, kube, kube_namespace, options, placed):
    for obj in placed(render_app(app, options, 50, kube_namespace)):
        assert kube.create(obj)["metadata"]["name"] == obj["metadata"]["name"]
