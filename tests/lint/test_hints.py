"""Writes of a fault without effect are hints; effective ones are not."""

from __future__ import annotations

import copy
from time import process_time
from typing import Any

import pytest

from scenario_kit.lint.rules.leaks.needless import ObjectSurroundings, find_needless
from scenario_kit.lint.rules.leaks.needless.foreign_objects import find_foreign_writes
from scenario_kit.lint.simulation.stages import build_stage
from scenario_kit.model import App, Change, Object

APP = App.from_json(
    {"name": "shop", "version": "1", "namespace": "shop", "entry": "web",
     "components": [{"name": "web", "workload": "Deployment/web", "service": "web"}]}
)  # fmt: skip
RESTARTED = "kubectl.kubernetes.io/restartedAt"
SETTINGS: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "web-settings", "namespace": "shop"},
    "data": {"app.json": '{"timeout": 3}', "app.conf": "timeout 3\nretries 2\n"},
}
SERVICE: Object = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"selector": {"app": "web", "tier": "front"}, "ports": [{"name": "http", "port": 80}]},
}


def workload(**more: Any) -> Object:
    """The app's Deployment; ``more`` goes into its only container."""
    container = {"name": "web", "image": "web:1", "env": [{"name": "STORE_ADDR", "value": "store"}], **more}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web", "tier": "front"}},
                "spec": {
                    "containers": [container],
                    "volumes": [{"name": "settings", "configMap": {"name": "web-settings"}}],
                },
            },
        },
    }


BEFORE = (workload(), SERVICE, SETTINGS)


def list_hints(obj: Object, *others: Object) -> list[str]:
    """List the hints about an object, compared with its original in the app."""
    was = next((o for o in BEFORE if _identify(o) == _identify(obj)), None)
    now = (*(o for o in BEFORE if _identify(o) != _identify(obj)), obj, *others)
    return [
        found.reason for found in find_needless(obj, was, ObjectSurroundings(APP, BEFORE, now), created=was is None)
    ]


def _identify(obj: Object) -> tuple[str, str]:
    return obj["kind"], obj["metadata"]["name"]


def put(obj: Object, path: str, value: Any) -> Object:
    """A copy of the object with one field more."""
    result = copy.deepcopy(obj)
    *above, last = path.split("/")
    at: Any = result
    for key in above:
        at = at[int(key)] if isinstance(at, list) else at.setdefault(key, {})
    at[last] = value
    return result


def build_create(kind: str, name: str = "settings-bcdfg", **body: Any) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **body}


def job(**container: Any) -> Object:
    spec = {"containers": [{"name": "main", "image": "busybox:1.37.0", **container}]}
    return build_create("Job", "batch-bcdfg", spec={"template": {"spec": spec}})


def require_node(key: str, value: str) -> Object:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


POD = "spec/template/spec"
MAIN = f"{POD}/containers/0"


@pytest.mark.parametrize(
    "obj",
    [
        put(SERVICE, "metadata/annotations", {"ops/culprit": "yes"}),
        put(SERVICE, "metadata/annotations", {RESTARTED: "the selector is wrong"}),
        put(SERVICE, "metadata/annotations", {"prometheus.io/path": "culprit"}),
        put(SERVICE, "metadata/labels", {"suspect": "true"}),
        put(workload(), "spec/template/metadata/annotations", {"note": "x"}),
        put(workload(), "spec/template/metadata/labels", {"app": "web", "tier": "front", "guilty": "yes"}),
        put(workload(), "spec/template/metadata/labels", {"app": "web", "tier": "culprit"}),
        workload(env=[{"name": "STORE_ADDR", "value": "store"}, {"name": "LOOK_HERE", "value": "1"}]),
        workload(env=[{"name": "STORE_ADDR", "value": "store"}, {"name": "STORE_CULPRIT", "value": "1"}]),
        workload(env=[{"name": "STORE_ADDR", "value": "the cart is to blame here"}]),
        workload(ports=[{"name": "culprit", "containerPort": 1}]),
        put(workload(), f"{POD}/initContainers", [{"name": "this-is-it", "image": "busybox:1.37.0"}]),
        put(workload(), f"{POD}/volumes", [{"name": "the-answer", "emptyDir": {}}]),
        put(workload(), f"{POD}/hostAliases", [{"ip": "10.0.0.1", "hostnames": ["culprit.internal"]}]),
        put(SETTINGS, "data/solution", "restart the cart"),
        put(SETTINGS, "data/extra.json", "{}"),
        put(SETTINGS, "data/app.json", '{"timeout": 9, "culprit": "web"}'),
        put(SETTINGS, "data/app.conf", "timeout 9\n# culprit: web\nretries 2\n"),
        put(SETTINGS, "data/app.conf", "timeout 9\nplease look at the selector\nretries 2\n"),
        build_create("ConfigMap", data={"level": "info"}),
        build_create("Secret", data={"level": "aW5mbw=="}),
        build_create("PriorityClass", value=3),
        build_create("Service", spec={"selector": {"app": "web"}}),
        build_create("Event", message="web has no endpoints", reason="Unhealthy"),
        build_create("Lease"),
        job(command=["sh", "-c", "echo web is the culprit; sleep 60"]),
        job(command=["sh", "-c", "echo web is the culprit >&2"]),
        job(command=["sh", "-c", "echo it\\'s the culprit > /proc/1/fd/1"]),
        job(command=["sh", "-c", "echo 'web is the culprit' | tee /dev/stderr"]),
        job(command=["sh", "-c", "echo 'web is the culprit' || true"]),
        job(command=["sh", "-c", "sleep 60 # the selector of web"]),
        job(command=["sh", "-c", ": the selector of web; sleep 60"]),
        put(workload(), f"{POD}/schedulerName", "culprit"),
        put(workload(), f"{MAIN}/terminationMessagePath", "/look/at/web"),
        put(workload(), f"{MAIN}/workingDir", "/the/selector/is/wrong"),
        put(workload(), f"{POD}/tolerations", [{"key": "culprit.io/web", "operator": "Exists"}]),
        put(workload(), f"{POD}/nodeSelector", {"suspicious": "web"}),
        put(SERVICE, "spec/selector", {"app": "web", "marked": "yes"}),
        put(SERVICE, "spec/selector", {"app": "web-is-the-culprit"}),
        put(workload(), f"{MAIN}/readinessProbe", {"httpGet": {"path": "/the-culprit-is-web", "port": 80}}),
        put(workload(), f"{MAIN}/readinessProbe", {"httpGet": {"port": 80, "httpHeaders": [{"name": "X-Cause"}]}}),
        put(
            workload(),
            f"{MAIN}/readinessProbe",
            {"httpGet": {"port": 80, "httpHeaders": [{"name": "Host", "value": "culprits"}]}},
        ),
        workload(env=[{"name": "OTEL_RESOURCE_ATTRIBUTES", "value": "service.name=web,cause=selector"}]),
        workload(args=["--reason=selector-is-wrong"]),
        workload(image="web:buggy"),
        workload(envFrom=[{"prefix": "CULPRIT_", "configMapRef": {"name": "settings"}}]),
        workload(env=[{"name": "STORE_ADDR", "value": "store?note=the-cart-is-broken"}]),
        build_create(
            "PodDisruptionBudget", "pdb-bcdfg", spec={"selector": {"matchLabels": {"app": "web", "weird": "yes"}}}
        ),
        job(name="guilty"),
        build_create("Job", "look-at-web", spec={"template": {"spec": {"containers": []}}}),
        build_create("Job", "culprit-bcdfg", spec={"template": {"spec": {"containers": []}}}),
    ],
    ids=lambda obj: f"{obj['kind']}-{obj['metadata']['name']}",
)
def test_unused_field_is_a_hint(obj: Object) -> None:
    assert list_hints(obj)


@pytest.mark.parametrize("command", ["echo" + " " * 50_000 + "|", "a'" * 50_000, "echo '" * 20_000])
def test_the_time_for_a_long_command_is_bounded(command: str) -> None:
    start = process_time()

    list_hints(job(command=["sh", "-c", command]))
    list_hints(put(SETTINGS, "data/long", command))

    assert process_time() - start < 10


def test_mounted_configmap_must_not_contain_hints() -> None:
    volume = {"name": "settings", "configMap": {"name": "settings-bcdfg"}}
    reader = put(job(), f"{POD}/volumes", [volume])

    assert list_hints(build_create("ConfigMap", data={"level": "info"}), reader) == []
    assert list_hints(build_create("ConfigMap", data={"level": "culprit-web"}), reader)
    assert list_hints(build_create("ConfigMap", data={"solution": "web"}), reader)


@pytest.mark.parametrize(
    "obj",
    [
        put(SERVICE, "spec/selector", {"app": "web-old"}),
        put(SERVICE, "spec/ports/0/targetPort", 9999),
        put(workload(), "spec/template/metadata/labels", {"app": "web", "tier": "set-bcdfg"}),
        put(workload(), "spec/template/metadata/annotations", {RESTARTED: "2026-01-01T00:00:00Z"}),
        put(workload(), "metadata/labels", {"app": "web", "app.kubernetes.io/part-of": "shop"}),
        put(workload(), "spec/template/metadata/annotations", {"sidecar.istio.io/inject": "false"}),
        workload(env=[{"name": "STORE_ADDR", "value": "store:9999"}, {"name": "GOMEMLIMIT", "value": "10MiB"}]),
        workload(env=[{"name": "STORE_ADDR", "value": "store"}, {"name": "STORE_PORT", "value": "1"}]),
        put(workload(), f"{POD}/initContainers", [{"name": "setup-bcdfg", "image": "busybox:1.37.0"}]),
        put(workload(), f"{POD}/initContainers", [{"name": "wait-for-web", "image": "busybox:1.37.0"}]),
        put(SETTINGS, "data/app.json", '{"timeout": 9}'),
        put(SETTINGS, "data/app.conf", "timeout 9\nretries 2\n"),
        put(SETTINGS, "data", {}),
        put(workload(), f"{MAIN}/terminationMessagePath", "/dev/termination-log"),  # the API server's own
        put(workload(), f"{POD}/schedulerName", "default-scheduler"),
        put(job(), "spec/selector", {"matchLabels": {"batch.kubernetes.io/controller-uid": "0b5e6a1c-77aa"}}),
        put(workload(), f"{POD}/tolerations", [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]),
        put(workload(), f"{POD}/nodeSelector", {"disktype": "ssd"}),
        put(workload(), f"{POD}/nodeSelector", {"topology.kubernetes.io/zone": "eu-west-1a"}),
        put(workload(), f"{POD}/tolerations", [{"key": "dedicated", "operator": "Equal", "value": "gpu"}]),
        put(SERVICE, "spec/selector", {"app": "wbe"}),  # misspelled: an incident, and no hint
        put(workload(), f"{MAIN}/readinessProbe", {"httpGet": {"path": "/healthy", "port": 81}}),
        put(
            workload(),
            f"{MAIN}/readinessProbe",
            {"httpGet": {"port": 80, "httpHeaders": [{"name": "Host", "value": "web"}]}},
        ),
        workload(env=[{"name": "OTEL_RESOURCE_ATTRIBUTES", "value": "service.name=web,service.version=$(VERSION)"}]),
        workload(args=["--timeout=1ms", "--log-level=debug"]),
        workload(image="web:1.2.3-rc1"),
        build_create("NetworkPolicy", "pods-bcdfg", spec={"podSelector": {"matchLabels": {"app": "web"}}}),
        build_create("ResourceQuota", "compute-bcdfg", spec={"hard": {"pods": "1"}}),
        build_create("ResourceQuota", "compute-bcdfg", spec={"hard": {"count/ingresses.networking.k8s.io": "1"}}),
        put(workload(), f"{POD}/tolerations", [{"key": "dedicated", "operator": "Equal", "value": "true"}]),
        put(workload(), f"{POD}/affinity", require_node("kubernetes.io/os", "linux")),
        put(workload(), f"{POD}/affinity", require_node("kubernetes.io/arch", "amd64")),
        put(workload(), f"{POD}/affinity", require_node("failure-domain.beta.kubernetes.io/zone", "zone-a")),
        build_create("Service", spec={"type": "NodePort", "selector": {"app": "web"}}),
        job(command=["sh", "-c", "until nslookup web; do echo waiting for web; sleep 2; done"]),
        job(command=["sh", "-c", "echo level=9 > /etc/app.conf"]),
        job(command=["sh", "-c", "echo 'create subscribers' | nc web 80"]),
        job(command=["sh", "-c", "printf 'create subscribers %s' 'a; b' > /etc/app.conf"]),
        job(command=["sh", "-c", "wget -q http://web/$TARGET"], env=[{"name": "TARGET", "value": "cart"}]),
    ],
    ids=lambda obj: f"{obj['kind']}-{obj['metadata']['name']}",
)  # fmt: skip
def test_used_field_is_no_hint(obj: Object) -> None:
    assert list_hints(obj) == []


def build_patch(target: str, type_: str, patch: Any) -> dict[str, Any]:
    return {"patch": {"target": target, "type": type_, "patch": patch}}


def list_foreign_hints(change: dict[str, Any]) -> list[str]:
    stage = build_stage(("changes",), APP, BEFORE, [Change.from_json(change)])
    return [found.reason for _, found in find_foreign_writes(stage, ObjectSurroundings(APP, BEFORE, stage.after))]


@pytest.mark.parametrize(
    "change",
    [
        build_patch("Node/worker-1", "Merge", {"metadata": {"annotations": {"ops/culprit": "web"}}}),
        build_patch("Node/worker-1", "Json", [{"op": "add", "path": "/metadata/labels/ops~1culprit", "value": "web"}]),
        build_patch("Node/worker-1", "Json", [{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}]),
        build_patch("kube-system/ConfigMap/coredns", "Strategic", {"metadata": {"labels": {"broken": "yes"}}}),
        {"taint": {"target": "Node/worker-1", "key": "culprit", "value": "web"}},
        {"taint": {"target": "Node/worker-1", "key": "dedicated", "value": "look-at-web"}},
    ],
)
def test_hints_on_foreign_objects_are_found(change: dict[str, Any]) -> None:
    assert list_foreign_hints(change)


@pytest.mark.parametrize(
    "change",
    [
        build_patch("Node/worker-1", "Merge", {"spec": {"unschedulable": True}}),
        build_patch(
            "Namespace/shop", "Merge", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
        ),
        build_patch("Node/worker-1", "Json", [{"op": "remove", "path": "/metadata/labels/a"}]),
        {"taint": {"target": "Node/worker-1", "key": "pool", "value": "batch"}},
    ],
)
def test_effective_changes_of_cluster_objects_need_no_hint(change: dict[str, Any]) -> None:
    assert list_foreign_hints(change) == []
