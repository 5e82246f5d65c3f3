"""Fields that the lab reads, and changes that it therefore cannot show."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lab.kubelet.image.images import ImageCache
from scenario_kit.lab.kubelet.status import SyncInputs, compute_pod_status
from scenario_kit.lab.twin.cluster.environment import build_environment
from scenario_kit.lab.twin.network.endpoints import Network
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.model import App, Change, Fault, Object, Reference
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.render import render_app, resolve_options
from scenario_kit.render.faults.fault import render_fault
from scenario_kit.render.faults.modelled_fields import REAL_DATA_PLANE, find_unmodelled
from scenario_kit.render.faults.modelled_fields.registry import (
    CONTAINER,
    CONTROL_PLANE,
    POD,
    project_objects,
    select_differing,
)
from tests.lab.kubelet.conftest import NODE, T0, Objects, Scripted
from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster

Rendered = tuple[App, tuple[Object, ...]]


@pytest.fixture(scope="module")
def rendered() -> Callable[[str, str], Rendered]:
    catalog, made = Catalog(), {}

    def make(name: str, version: str) -> Rendered:
        if (name, version) not in made:
            app = catalog.app(name, version)
            templates = catalog.templates(name)
            made[name, version] = app, render_app(app, resolve_options(app, {}), 50, app.namespace, templates=templates)
        return made[name, version]

    return make


def pod(**fields: Any) -> Object:
    return {"spec": {"template": {"spec": fields}}}


def container(name: str, **fields: Any) -> Object:
    return pod(containers=[{"name": name, **fields}])


def env(name: str, variable: str, value: str) -> Object:
    return container(name, env=[{"name": variable, "value": value}])


SHOP, HOTEL = ("otel-demo", "2.2.0"), ("hotel-reservation", "6ecb097")
CHECKOUT = "Deployment/checkout"
#: What no part of the lab reads, by what it is; the app, the object, and a strategic patch of it.
NOT_MODELLED: dict[str, tuple[tuple[str, str], str, Object]] = {
    "memory limit of Go": (SHOP, CHECKOUT, env("checkout", "GOMEMLIMIT", "16")),
    "garbage collection": (HOTEL, "Deployment/search", env("hotel-reserv-search", "GC", "10")),
    "log level": (HOTEL, "Deployment/search", env("hotel-reserv-search", "LOG_LEVEL", "TRACE")),
    "unknown variable": (SHOP, CHECKOUT, env("checkout", "NO_SUCH_VARIABLE", "x")),
    "pull secret": (SHOP, CHECKOUT, pod(imagePullSecrets=[{"name": "no-such"}])),
    "grace period": (SHOP, CHECKOUT, pod(terminationGracePeriodSeconds=1)),
    "hook": (SHOP, CHECKOUT, container("checkout", lifecycle={"preStop": {"sleep": {"seconds": 60}}})),
    "user": (SHOP, CHECKOUT, pod(securityContext={"runAsUser": 1})),
    "read-only root": (SHOP, CHECKOUT, container("checkout", securityContext={"readOnlyRootFilesystem": True})),
    "resolver options": (SHOP, CHECKOUT, pod(dnsConfig={"options": [{"name": "ndots", "value": "1"}]})),
    "host name": (SHOP, CHECKOUT, pod(hostname="elsewhere")),
    "shared processes": (SHOP, CHECKOUT, pod(shareProcessNamespace=True)),
    "working directory": (SHOP, CHECKOUT, container("checkout", workingDir="/nowhere")),
    "arguments": (SHOP, CHECKOUT, container("checkout", args=["--verbose"])),
    "annotation": (SHOP, CHECKOUT, {"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}}),
    "label that nobody selects": (SHOP, CHECKOUT, {"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}}),
    "label of the workload": (SHOP, CHECKOUT, {"metadata": {"labels": {"a": "b"}}}),
    "history": (SHOP, CHECKOUT, {"spec": {"revisionHistoryLimit": 0}}),
    "empty volume": (SHOP, CHECKOUT, pod(volumes=[{"name": "x", "emptyDir": {}}])),
    "session affinity": (SHOP, "Service/checkout", {"spec": {"sessionAffinity": "ClientIP"}}),
    "traffic from outside": (SHOP, "Service/checkout", {"spec": {"type": "NodePort"}}),
    "pipeline": (SHOP, "ConfigMap/otel-collector-agent", {"data": {"relay.yaml": "receivers: {}"}}),
    "script of the load": (HOTEL, "ConfigMap/load-generator", {"data": {"requests.js": "export default 1"}}),
}
#: What some part reads, by what it is.
MODELLED: dict[str, tuple[tuple[str, str], str, Object]] = {
    "address": (SHOP, CHECKOUT, env("checkout", "CART_ADDR", "cart:1")),
    "part of an address": (SHOP, CHECKOUT, env("checkout", "OTEL_COLLECTOR_NAME", "nobody")),
    "port": (SHOP, CHECKOUT, env("checkout", "CHECKOUT_PORT", "1")),
    "resource attributes": (SHOP, CHECKOUT, env("checkout", "OTEL_RESOURCE_ATTRIBUTES", "service.name=x")),
    "memory": (SHOP, CHECKOUT, container("checkout", resources={"limits": {"memory": "8Mi"}})),
    "image": (SHOP, CHECKOUT, container("checkout", image="nobody/nothing:1")),
    "command": (SHOP, CHECKOUT, container("checkout", command=["/no/such"])),
    "probe": (SHOP, CHECKOUT, container("checkout", readinessProbe={"tcpSocket": {"port": 1}})),
    "placement": (SHOP, CHECKOUT, pod(nodeSelector={"no": "such"})),
    "resolver": (SHOP, CHECKOUT, pod(dnsPolicy="Default")),
    "account that is not there": (SHOP, CHECKOUT, pod(serviceAccountName="no-such")),
    "claim": (SHOP, CHECKOUT, pod(volumes=[{"name": "x", "persistentVolumeClaim": {"claimName": "no-such"}}])),
    "file that is not there": (SHOP, CHECKOUT, pod(volumes=[{"name": "x", "configMap": {"name": "no-such"}}])),
    "reference that is not there": (
        SHOP, CHECKOUT,
        container("checkout", env=[{"name": "X", "valueFrom": {"secretKeyRef": {"name": "no", "key": "x"}}}]),
    ),
    "wait": (SHOP, CHECKOUT, pod(initContainers=[{"name": "wait-for-kafka", "command": ["sh", "-c", "exit 1"]}])),
    "selected label": (
        SHOP, CHECKOUT, {"spec": {"template": {"metadata": {"labels": {"opentelemetry.io/name": "x"}}}}},
    ),
    "replicas": (SHOP, CHECKOUT, {"spec": {"replicas": 0}}),
    "strategy": (SHOP, CHECKOUT, {"spec": {"strategy": {"type": "Recreate"}}}),
    "target port": (SHOP, "Service/checkout", {"spec": {"ports": [{"port": 8080, "targetPort": 1}]}}),
    "selector": (SHOP, "Service/checkout", {"spec": {"selector": {"opentelemetry.io/name": "x"}}}),
    "configuration": (HOTEL, "ConfigMap/hotel-reservation-config", {"data": {"config.json": '{"SearchPort": "1"}'}}),
    "configuration that is no JSON": (HOTEL, "ConfigMap/hotel-reservation-config", {"data": {"config.json": "{"}}),
}  # fmt: skip


def patch(target: str, document: Object) -> Change:
    return Change.from_json({"patch": {"target": target, "type": "Strategic", "patch": document}})


@pytest.mark.parametrize("what", NOT_MODELLED)
def test_unread_field_is_unmodelled(rendered: Callable[..., Rendered], what: str) -> None:
    place, target, document = NOT_MODELLED[what]
    app, objects = rendered(*place)
    change = patch(target, document)
    found = find_unmodelled([change, Change.from_json({"restart": {"target": CHECKOUT}})], app, objects, app.namespace)
    assert found
    assert all(target in field for field in found)


@pytest.mark.parametrize("what", MODELLED)
def test_read_field_is_modelled(rendered: Callable[..., Rendered], what: str) -> None:
    place, target, document = MODELLED[what]
    app, objects = rendered(*place)
    assert find_unmodelled([patch(target, document)], app, objects, app.namespace) == ()


def test_change_with_one_modelled_field_is_modelled(rendered: Callable[..., Rendered]) -> None:
    app, objects = rendered(*SHOP)
    changes = [patch(CHECKOUT, env("checkout", "GOMEMLIMIT", "16")), patch(CHECKOUT, {"spec": {"replicas": 2}})]
    assert find_unmodelled(changes, app, objects, app.namespace) == ()
    assert find_unmodelled(changes[:1], app, objects, app.namespace) == (
        "spec.template.spec.containers.checkout.env.GOMEMLIMIT.value of Deployment/checkout",
    )


@pytest.mark.parametrize(
    "other",
    [
        {"scale": {"target": CHECKOUT, "replicas": 2}},
        {"cordon": {"target": "Node/node:all"}},
        {"patch": {"target": "kube-system/ConfigMap/coredns", "type": "Merge", "patch": {"data": {"x": "y"}}}},
        {"create": {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {}}}},
        {"delete": {"target": CHECKOUT}},
    ],
)
def test_non_patch_operations_are_modelled(rendered: Callable[..., Rendered], other: Object) -> None:
    app, objects = rendered(*SHOP)
    assert find_unmodelled([Change.from_json(other)], app, objects, app.namespace) == ()


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret", "ServiceAccount", "Role"])
def test_unread_object_is_unmodelled(rendered: Callable[..., Rendered], kind: str) -> None:
    app, objects = rendered(*SHOP)
    version = "rbac.authorization.k8s.io/v1" if kind == "Role" else "v1"
    create = {"apiVersion": version, "kind": kind, "metadata": {"name": "extra"}}
    assert find_unmodelled([Change.from_json({"create": create})], app, objects, app.namespace) == (f"{kind}/extra",)


def test_changed_mount_path_is_unmodelled(rendered: Callable[..., Rendered]) -> None:
    app, objects = rendered(*HOTEL)
    path = "/spec/template/spec/containers/0/volumeMounts/0/mountPath"
    moved = [{"op": "replace", "path": path, "value": "/etc/config.json"}]
    change = Change.from_json({"patch": {"target": "Deployment/search", "type": "Json", "patch": moved}})
    assert find_unmodelled([change], app, objects, app.namespace) == (
        "spec.template.spec.containers.hotel-reserv-search.volumeMounts.config.mountPath of Deployment/search",
    )


def test_fault_requires_real_data_plane(rendered: Callable[..., Rendered]) -> None:
    app, objects = rendered(*SHOP)
    known = Catalog().fault("env-value-wrong")

    def needs(name: str, value: str) -> tuple[str, ...]:
        use = FaultUse(
            name="f", type=known.name, target=Reference.parse(CHECKOUT), parameters={"name": name, "value": value}
        )
        return render_fault(known, use, app, objects, app.namespace, "s").requires

    assert REAL_DATA_PLANE in needs("GOMEMLIMIT", "16")
    assert REAL_DATA_PLANE not in needs("CART_ADDR", "cart:1")


def shown_by_trials() -> Iterator[tuple[str, Object]]:
    """Yield one row for each fault type and app whose trial in the lab raised alerts."""
    catalog = Catalog()
    writing = {n for n in catalog.faults() if not any("chaos" in c for c in catalog.fault(n).to_json()["changes"])}
    seen: set[tuple[str, str]] = set()
    for path in sorted((Path(__file__).parents[2] / "catalog" / "apps").glob("*/matrix.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            key = (row["app"], row["fault"])
            if row["outcome"] == "Ran" and row.get("alerts") and key not in seen and row["fault"] in writing:
                seen.add(key)
                yield f"{row['app']}-{row['fault']}", row


def render_tried(row: Object, app: App, objects: Sequence[Object]) -> Fault:
    """Render the fault of a row as it was tried; skip rows that need an app option."""
    known = Catalog().fault(row["fault"])
    use = FaultUse(
        name="f", type=known.name, target=Reference.parse(row["target"]), parameters=row.get("parameters") or {}
    )
    try:
        return render_fault(known, use, app, objects, app.namespace, "s")
    except AuthoringError:
        pytest.skip("it wants an option of the app")


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in shown_by_trials()])
def test_observed_effects_are_modelled(rendered: Callable[..., Rendered], row: Object) -> None:
    app, objects = rendered(row["app"], row["version"])
    assert render_tried(row, app, objects).requires == Catalog().fault(row["fault"]).requires


def simulate(changes: Iterable[Change], app: App, objects: Sequence[Object]) -> Sequence[Object]:
    """Return the objects after changes, as far as these concern objects that exist."""
    for change in changes:
        try:
            objects = change.operation.simulate(objects, app, app.namespace)
        except AuthoringError:
            break
    return objects


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in shown_by_trials()])
def test_only_selected_projections_differ(rendered: Callable[..., Rendered], row: Object) -> None:
    app, objects = rendered(row["app"], row["version"])
    new = simulate(render_tried(row, app, objects).changes, app, objects)
    before, after = select_differing(objects, new)
    was, is_ = project_objects(objects, app, app.namespace), project_objects(new, app, app.namespace)
    chosen = project_objects(objects, app, app.namespace, before), project_objects(new, app, app.namespace, after)
    assert {key: was.get(key) for key in was if was.get(key) != is_.get(key)} == {
        key: value for key, value in chosen[0].items() if value != chosen[1].get(key)
    }
    assert {key: is_.get(key) for key in is_ if was.get(key) != is_.get(key)} == {
        key: value for key, value in chosen[1].items() if value != chosen[0].get(key)
    }


class Traced(dict[str, Any]):
    """A mapping that records the keys that are read."""

    def __init__(self, of: Object, read_fields: set[str]) -> None:
        super().__init__(of)
        self.keys_read = read_fields

    def get(self, key: str, default: Any = None) -> Any:
        self.keys_read.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.keys_read.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.keys_read.add(str(key))
        return super().__contains__(key)

    def __deepcopy__(self, memo: Any) -> Traced:
        return Traced({k: copy.deepcopy(v, memo) for k, v in super().items()}, self.keys_read)


@pytest.fixture(scope="module")
def read_fields() -> tuple[set[str], set[str]]:
    """The fields of pods, and of containers, that the kubelet and the twin read of the table of unusual pods."""
    of_pods: set[str] = set()
    of_containers: set[str] = set()
    pods = yaml.safe_load((Path(__file__).parents[1] / "fixtures" / "unusual" / "pods.yaml").read_text())
    simulated = TwinCluster(tiny.app(), tiny.objects())
    for name, body in pods.items():
        spec = Traced({"nodeName": "node-0", **body}, of_pods)
        for part in ("containers", "initContainers"):
            if part in body:
                dict.__setitem__(spec, part, [Traced(c, of_containers) for c in body[part]])
        metadata = {"name": name, "namespace": "shop", "uid": name, "resourceVersion": "1", "generation": 1}
        one: Object = {"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
        memory, processes, images = None, Scripted(), ImageCache()
        for seconds in (0.0, 1.0, 60.0, 600.0):
            if seconds == 600.0:
                one["metadata"] = {**metadata, "deletionTimestamp": "2026-01-01T00:00:00Z"}
            made = compute_pod_status(
                one,
                SyncInputs(NODE, Objects(), processes, images.of("shop")),
                T0 + seconds,
                ip="10.244.0.7",
                memory=memory,
            )
            one, memory = {**one, "status": made.status}, made.memory
        simulated.kinds["Pod"][name] = one
        simulated.kinds["Pod"][name]["metadata"].setdefault("annotations", {"workload": ""})
        simulated.version += 1
        simulated.run(15)
        network = Network(simulated.view(), ProcessTable(tiny.DEFINITION))
        network.lookup(one, "gate", 80)
        build_environment(simulated.view(), one, {})
        del simulated.kinds["Pod"][name]
    return of_pods, of_containers


#: Fields that they read but that do not affect requests.
UNSEEN = ("lifecycle", "terminationGracePeriodSeconds", "terminationMessagePolicy")
#: Fields that are read, and of which the registry takes what matters.
DERIVED_OF_PODS = {"containers", "initContainers", "volumes"}
DERIVED_OF_CONTAINERS = {"args", "command", "env", "envFrom", "volumeMounts"}


def test_pod_field_register_matches_the_code(read_fields: tuple[set[str], set[str]]) -> None:
    of_pods, _ = read_fields
    assert of_pods - {*CONTROL_PLANE} <= {*POD, *UNSEEN, *DERIVED_OF_PODS}
    assert {*POD} <= of_pods


def test_container_register_matches_code(read_fields: tuple[set[str], set[str]]) -> None:
    _, of_containers = read_fields
    assert of_containers <= {*CONTAINER, *UNSEEN, *DERIVED_OF_CONTAINERS}
    assert {*CONTAINER, *DERIVED_OF_CONTAINERS} <= of_containers


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("StressChaos", {"stressors": {"memory": {"workers": 1, "size": "80%"}}}, "stressors.memory.size"),
        (
            "HTTPChaos",
            {"target": "Response", "port": 80, "patch": {"body": {"type": "JSON", "value": "{}"}}},
            "patch.*",
        ),
        (
            "NetworkChaos",
            {"action": "loss", "loss": {"loss": "10"}, "externalTargets": ["10.0.0.1:80"]},
            "externalTargets",
        ),
        ("StressChaos", {"stressors": {"memory": {"workers": 1, "size": "256MB"}}}, ""),
        ("NetworkChaos", {"action": "loss", "loss": {"loss": "10"}}, ""),
    ],
)
def test_unmodelled_chaos_fields_are_listed(kind: str, spec: dict[str, object], field: str) -> None:
    metadata = {"name": "x", "namespace": "otel-demo"}
    manifest = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
    app = Catalog().app("otel-demo", "2.2.0")
    found = find_unmodelled([Change.from_json({"chaos": manifest})], app, (), "otel-demo")
    assert [each.partition(" of ")[0] for each in found] == ([field] if field else [])
