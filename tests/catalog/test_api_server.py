"""The rendered app, and our reading of patches, against a real API server."""

import pytest

from scenario_kit.changes.three_way_restore import strip_to_desired
from scenario_kit.model import Change, Reference
from scenario_kit.render import render_app

#: Written in another form: quantities, and text of Secrets.
REWRITTEN = ("stringData", "resources")
PROFILES = [
    {},
    {"observability": True, "collector": "Agent", "resources": "Chart"},
    # Everything at once.
    {
        "observability": True,
        "browserTraffic": True,
        "shape": "Ramp",
        "resources": "Tight",
        "autoscaling": True,
        "replicas": 2,
        "replicasOf": {"cart": 3},
    },
    {"resources": "None", "shape": "Surge"},
    {"separateStores": True},
]


@pytest.fixture
def deployed(catalog, kube, kube_namespace):
    app = catalog.app("otel-demo", "2.2.0")
    objects = render_app(app, {}, 50, kube_namespace)
    for obj in objects:
        kube.create(obj)
    return app, objects


@pytest.mark.parametrize("version", ["2.2.0", "3.0.0"])
@pytest.mark.parametrize("options", PROFILES)
def test_api_server_stores_every_object_unchanged(catalog, kube, kube_namespace, version, options, placed):
    for obj in placed(render_app(catalog.app("otel-demo", version), options, 50, kube_namespace)):
        stored = kube.create(obj)
        assert list_lost_fields(obj, stored) == [], "the API server dropped a field that it does not know"


def list_lost_fields(sent, stored, path=""):
    """Fields that were sent, but are not stored, or with another value."""
    if isinstance(sent, dict) and isinstance(stored, dict):
        return [
            p for k, v in sent.items() if k not in REWRITTEN for p in list_lost_fields(v, stored.get(k), f"{path}.{k}")
        ]
    if isinstance(sent, list) and isinstance(stored, list) and len(sent) == len(stored):
        return [p for i, v in enumerate(sent) for p in list_lost_fields(v, stored[i], f"{path}[{i}]")]
    return [] if sent == stored or (not sent and stored is None) else [f"{path}: {sent!r} → {stored!r}"]


def template(**spec):
    return {"spec": {"template": {"spec": spec}}}


def container(name, **fields):
    return template(containers=[{"name": name, **fields}])


VOLUME = {"volumes": [{"name": "v", "emptyDir": {}}]}
PATCHES = [
    ("Service/cart", "Json", [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9999}]),
    ("Service/cart", "Strategic", {"spec": {"ports": [{"port": 8080, "targetPort": 9999}]}}),
    ("Service/cart", "Strategic", {"spec": {"selector": {"a": "b"}}}),
    ("Service/cart", "Merge", {"spec": {"selector": {"opentelemetry.io/name": None, "a": "b"}}}),
    ("Deployment/shipping", "Strategic", container("shipping", env=[{"name": "QUOTE_ADDR", "value": "http://x"}])),
    ("Deployment/shipping", "Strategic", container("shipping", env=[{"name": "NEW", "value": "1"}])),
    ("Deployment/shipping", "Strategic", container("shipping", env=[{"name": "QUOTE_ADDR", "$patch": "delete"}])),
    ("Deployment/shipping", "Strategic", container("shipping", args=["a"])),
    ("Deployment/shipping", "Strategic", container("shipping", image="x")),
    ("Deployment/shipping", "Strategic", container("side", image="x")),
    ("Deployment/shipping", "Strategic", template(nodeSelector={"a": "b"})),
    ("Deployment/checkout", "Strategic", template(initContainers=[{"name": "i", "image": "x"}])),
    ("Deployment/checkout", "Merge", template(initContainers=None)),
    ("Deployment/checkout", "Strategic", template(initContainers=None)),
    ("Deployment/postgresql", "Strategic", template(**VOLUME)),
    ("ConfigMap/flagd-config", "Merge", {"data": {"demo.flagd.json": "{}"}}),
]


def test_simulated_patches_match_the_api_server(deployed, kube, kube_namespace):
    """Every patch on a fresh copy of the object, as stored: the real result equals the foreseen one."""
    app, _ = deployed
    for number, (target, type_, patch) in enumerate(PATCHES):
        ref = Reference.parse(target).within(kube_namespace)
        prior = strip_to_desired(kube.get(ref))
        change = Change.from_json({"patch": {"target": target, "type": type_, "patch": patch}})
        (foreseen,) = change.operation.simulate((prior,), app, kube_namespace)
        live = kube.patch(ref, patch, type_)
        assert list_lost_fields(foreseen, strip_to_desired(live)) == [], f"patch {number} of {target}"
        assert without_defaults(list_lost_fields(strip_to_desired(live), foreseen)) == [], f"patch {number} of {target}"
        kube.delete(ref)
        kube.create(prior)


def without_defaults(paths):
    """Fields that the API server fills in for new parts are not ours to foresee."""
    defaults = ("terminationMessage", "imagePullPolicy", "resources", "protocol")
    return [p for p in paths if not any(d in p for d in defaults)]
