"""Fields of objects and patches, judged by the types of Kubernetes: what is wrong is found at its place, and what is
odd but right is not.
"""

from __future__ import annotations

from typing import Any, Literal

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lint.object_fields.changes import find_wrong_fields, find_wrong_kinds
from scenario_kit.lint.object_fields.kinds import find_kind_mistake, find_type
from scenario_kit.lint.object_fields.mistake import NO_VALUE, FieldMistake
from scenario_kit.lint.object_fields.objects import Judging, find_mistakes
from scenario_kit.model import Change
from scenario_kit.model.json_document import Place

Document = dict[str, Any]
PatchForm = Literal["Merge", "Strategic", "Json"]

POD_SPEC: Document = {"containers": [{"name": "cart", "image": "cart:1"}]}


def deployment(**spec: Any) -> Document:
    body = {"selector": {"matchLabels": {"app": "cart"}}, "template": {"spec": POD_SPEC}, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cart"}, "spec": body}


def made_of(**container: Any) -> Document:
    return deployment(template={"spec": {"containers": [{"name": "cart", "image": "cart:1", **container}]}})


def pod(**spec: Any) -> Document:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "cart"}, "spec": {**POD_SPEC, **spec}}


def service(**spec: Any) -> Document:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart"}, "spec": spec}


def obj(api_version: str, kind: str, **body: Any) -> Document:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "cart"}, **body}


def chaos(kind: str, **spec: Any) -> Document:
    return obj("chaos-mesh.org/v1alpha1", kind, spec={"mode": "all", "selector": {}, **spec})


def inside(container: Document) -> Document:
    return {"spec": {"template": {"spec": {"containers": [container]}}}}


def judge(document: Document) -> list[FieldMistake]:
    known = find_type(document)
    assert known is not None
    return list(find_mistakes(document, known.type, Judging()))


def patch(form: PatchForm, document: Any, target: str = "Deployment/cart") -> Change:
    return Change.from_json({"patch": {"target": target, "type": form, "patch": document}})


def judge_change(change: Change, *objects: Document) -> list[FieldMistake]:
    return [wrong.mistake for wrong in find_wrong_fields(change, objects)]


WRONG_OBJECTS: list[tuple[Document, str, str]] = [
    (made_of(enviroment=[]), "spec.template.spec.containers[0].enviroment", "did you mean `env`"),
    (made_of(image_pull_policy="Always"), "spec.template.spec.containers[0].image_pull_policy", "`imagePullPolicy`?"),
    (made_of(resource={}), "spec.template.spec.containers[0].resource", "`resources`?"),
    (deployment(replicas="3"), "spec.replicas", "write 3"),
    (deployment(replicas=1.5), "spec.replicas", "an integer"),
    (deployment(replicas=True), "spec.replicas", "an integer"),
    (deployment(paused="true"), "spec.paused", "write true"),
    ({**deployment(), "replicas": 3}, "replicas", "`spec.replicas`"),
    (deployment(containers=[]), "spec.containers", "`spec.template.spec.containers`"),
    (deployment(restartPolicy="Always"), "spec.restartPolicy", "`spec.template.spec.restartPolicy`"),
    (pod(env=[]), "spec.env", "`spec.containers[].env`"),
    (made_of(terminationGracePeriodSeconds=1), "containers[0].terminationGracePeriodSeconds", "template.spec.term"),
    (made_of(imagePullPolicy="always"), "spec.template.spec.containers[0].imagePullPolicy", "`Always`?"),
    (made_of(env={"name": "A", "value": "1"}), "spec.template.spec.containers[0].env", "must be a list"),
    (made_of(env=[{"name": "A", "value": 1}]), "spec.template.spec.containers[0].env[0].value", 'write "1"'),
    (made_of(env=[{"nmae": "A", "value": "1"}]), "spec.template.spec.containers[0].env[0].nmae", "`name`?"),
    (made_of(env=[{"value": "1"}]), "spec.template.spec.containers[0].env[0]", "add `name`"),
    (made_of(resources={"limits": {"memory": "128MB"}}), "containers[0].resources.limits.memory", "a quantity"),
    (made_of(resources={"memory": "1Gi"}), "spec.template.spec.containers[0].resources.memory", "remove it"),
    (made_of(livenessProbe={"httpGet": {"path": "/"}}), "livenessProbe.httpGet", "add `port`"),
    (made_of(args="-v"), "spec.template.spec.containers[0].args", "must be a list"),
    (made_of(command=[1]), "spec.template.spec.containers[0].command[0]", 'write "1"'),
    (service(ports=[{"port": "80"}]), "spec.ports[0].port", "write 80"),
    (service(ports=[{"port": 80, "protocol": "HTTP"}]), "spec.ports[0].protocol", "SCTP or TCP or UDP"),
    (service(selector=["app"]), "spec.selector", "must be a mapping"),
    (service(selectors={}), "spec.selectors", "`selector`?"),
    (obj("v1", "ConfigMap", data={"a": 1}), "data.a", 'write "1"'),
    (obj("v1", "ConfigMap", data={"a": {"b": "c"}}), "data.a", "must be text"),
    (obj("v1", "Secret", data={"password": "hunter2"}), "data.password", "text in base64"),
    (obj("v1", "Secret", stringdata={"a": "b"}), "stringdata", "`stringData`?"),
    (obj("v1", "ConfigMap", metadata={"name": "a", "label": {}}), "metadata.label", "`labels`?"),
    (obj("v1", "ConfigMap", metadata={"name": "a", "labels": {"x": True}}), "metadata.labels.x", 'write "true"'),
    (obj("batch/v1", "CronJob", spec={"schedule": "* * * * *"}), "spec", "add `jobTemplate`"),
    (obj("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "policyTypes": ["In"]}), "policyTypes[0]",
     "Ingress"),
    (obj("policy/v1", "PodDisruptionBudget", spec={"minAvailable": 1.5}), "spec.minAvailable", "an integer or text"),
    (obj("autoscaling/v2", "HorizontalPodAutoscaler", spec={"maxReplicas": 2}), "spec", "add `scaleTargetRef`"),
    (obj("autoscaling/v1", "HorizontalPodAutoscaler", spec={"maxReplicas": 2, "scaleTargetRef": {"kind": "Deployment",
     "name": "cart"}, "metrics": []}), "spec.metrics", "remove it"),
    (chaos("PodChaos", action="pod-kil"), "spec.action", "`pod-kill`?"),
    (chaos("NetworkChaos", action="delay", dely={}), "spec.dely", "`delay`?"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "field", "hint"), WRONG_OBJECTS, ids=lambda v: v if isinstance(v, str) else "")
def test_wrong_field_of_object_is_found_with_a_hint(document: Document, field: str, hint: str) -> None:
    found = judge(document)

    assert len(found) == 1, found
    assert field in found[0].message
    assert hint in f"{found[0].message} {found[0].expected} {found[0].fix}"


HONEST: list[Document] = [
    deployment(replicas=0),
    deployment(replicas=None),
    deployment(strategy={"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}),
    deployment(strategy={"type": "Recreate", "rollingUpdate": None}),
    made_of(resources={"limits": {"cpu": 1, "memory": 1e9, "nvidia.com/gpu": "1"}, "requests": {"cpu": 0.5}}),
    made_of(resources={"limits": {"cpu": "1.5e3m"[:3], "memory": "12E"}, "requests": {"memory": "1e3"}}),
    made_of(livenessProbe={"httpGet": {"port": "http"}}, readinessProbe={"tcpSocket": {"port": 80}}),
    made_of(ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]),
    made_of(env=[{"name": "A"}, {"name": "B", "value": ""}, {"name": "C", "valueFrom": {"fieldRef": {"fieldPath":
        "x"}}}]),
    made_of(imagePullPolicy=""),
    made_of(image=None),
    pod(restartPolicy="Always", initContainers=[{"name": "side", "image": "a", "restartPolicy": "Always"}]),
    pod(volumes=[{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {"sizeLimit": 100}}]),
    pod(overhead={"cpu": "250m"}, topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule"}]),
    pod(securityContext={"sysctls": [{"name": "net.core.somaxconn", "value": "1"}], "runAsUser": 0}),
    service(clusterIP="None", ports=None),
    service(ports=[{"port": 80, "targetPort": "http"}, {"port": 81, "targetPort": 8081, "protocol": ""}]),
    service(type="ExternalName", externalName="example.com"),
    service(ipFamilies=["IPv4"], internalTrafficPolicy="Local"),
    obj("v1", "ConfigMap", data={"a": "1", "b": None}, binaryData={"c": "AAE="}, immutable=False),
    obj("v1", "Secret", data={"a": "aHVudGVyMg==\n"}, stringData={"b": "hunter2"}, type="Opaque"),
    obj("v1", "ConfigMap", metadata={"name": "a", "creationTimestamp": None, "managedFields": [{"manager": "kubectl",
        "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {".": {}}}}]}),
    obj("v1", "ConfigMap", metadata={"name": "a", "resourceVersion": "1", "uid": "x", "generation": 2,
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b"}], "finalizers": ["a/b"]}),
    {**deployment(), "status": {"replicas": 1, "conditions": [{"type": "Available"}]}},
    {**pod(), "status": {"podIPs": [{}], "containerStatuses": [{"state": {"terminated": {"reason": "Error"}}}]}},
    obj("policy/v1", "PodDisruptionBudget", spec={"minAvailable": "50%", "selector": {}}),
    obj("policy/v1", "PodDisruptionBudget", spec={"maxUnavailable": 1}),
    obj("scheduling.k8s.io/v1", "PriorityClass", globalDefault=False),
    obj("rbac.authorization.k8s.io/v1", "Role"),
    obj("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef={"kind": "Role", "name": "a"},
        subjects=[{"kind": "ServiceAccount", "name": "a"}]),
    obj("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "ingress": [{}]}),
    obj("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "egress": [{"ports": [{"port": "dns"},
        {"port": 53, "endPort": 60}]}]}),
    obj("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", ports=[{"port": 80}]),
    obj("v1", "ResourceQuota", spec={"hard": {"pods": 3, "requests.cpu": "1"}}),
    obj("v1", "LimitRange", spec={"limits": [{"type": "Container", "default": {"cpu": 1}}]}),
    obj("v1", "PersistentVolumeClaim", spec={"resources": {"requests": {"storage": "1Gi"}}, "accessModes":
        ["ReadWriteOnce"], "storageClassName": ""}),
    obj("batch/v1", "Job", spec={"template": {"spec": {**POD_SPEC, "restartPolicy": "Never"}}, "podFailurePolicy":
        {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}]}}),
    obj("autoscaling/v2", "HorizontalPodAutoscaler", spec={"maxReplicas": 2, "scaleTargetRef": {"kind": "Deployment",
        "name": "cart"}, "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization",
        "averageUtilization": 50}}}]}),
    obj("apps/v1", "StatefulSet", spec={"selector": {}, "template": {"spec": POD_SPEC}, "volumeClaimTemplates": [
        {"metadata": {"name": "a"}, "spec": {"resources": {"requests": {"storage": 1}}}}]}),
    obj("chaos-mesh.org/v1alpha1", "Schedule", spec={"schedule": "@every 60s", "type": "PodChaos",
        "historyLimit": 1, "concurrencyPolicy": "Forbid", "podChaos": {"action": "pod-kill", "mode": "all",
        "selector": {}}}),
    chaos("NetworkChaos", action="delay", delay={"latency": "1s"}) | {"status": {"experiment": {}}},
]  # fmt: skip


@pytest.mark.parametrize("document", HONEST, ids=lambda d: d["kind"])
def test_odd_but_legal_object_has_no_finding(document: Document) -> None:
    assert judge(document) == []


ENV = {"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "A", "value": "1"}}
WRONG_PATCHES: list[tuple[PatchForm, Any, str, str]] = [
    ("Merge", {"spec": {"replica": 0}}, "spec.replica", "`replicas`?"),
    ("Merge", {"spec": {"replicas": "0"}}, "spec.replicas", "write 0"),
    ("Merge", {"replicas": 0}, "replicas", "`spec.replicas`"),
    ("Merge", {"spec": {"replicas": 0, "$patch": "replace"}}, "spec.$patch", ""),
    ("Merge", inside({"image": "cart:2"}), "spec.template.spec.containers[0]", "add `name`"),
    ("Strategic", inside({"image": "cart:2"}), "spec.template.spec.containers[0]", "add `name`"),
    ("Strategic", inside({"name": "cart", "enviroment": []}), "containers[0].enviroment", "`env`"),
    ("Strategic", inside({"name": "cart", "env": [{"name": "A", "value": 1}]}), "env[0].value", 'write "1"'),
    ("Strategic", inside({"name": "cart", "$patch": "remove"}), "containers[0].$patch", "delete or merge or replace"),
    ("Strategic", inside({"name": "cart", "$setElementOrder/envs": []}), "$setElementOrder/envs", "`env`?"),
    ("Strategic", {"spec": {"$retainKeys": ["stategy"]}}, "$retainKeys", "`strategy`?"),
    ("Strategic", {"spec": {"$setOrder/x": []}}, "$setOrder/x", "no directive"),
    ("Strategic", {"spec": {"strategy": {"$patch": "replace", "typ": "Recreate"}}}, "spec.strategy.typ", "`type`?"),
    ("Strategic", inside({"name": "cart", "lifecycle": {"preStop": {"$patch": "replace", "httpGet": {"path": "/"}}}}),
     "httpGet", "`port`"),
    ("Json", [{**ENV, "path": "/spec/template/spec/containers/0/enviroment/-"}], "containers[0].enviroment", "`env`"),
    ("Json", [{**ENV, "value": {"name": "A", "value": 1}}], "env.-.value", 'write "1"'),
    ("Json", [{**ENV, "value": {"value": "1"}}], "env.-", "add `name`"),
    ("Json", [{"op": "replace", "path": "/spec/replicas", "value": "0"}], "spec.replicas", "write 0"),
    ("Json", [{"op": "remove", "path": "/spec/replica"}], "spec.replica", "/spec/replicas"),
    ("Json", [{"op": "add", "path": "/replicas", "value": 0}], "replicas", "`spec.replicas`"),
    ("Json", [{"op": "move", "from": "/spec/replica", "path": "/spec/replicas"}], "spec.replica", "/spec/replicas"),
    ("Json", [{"op": "add", "path": "/spec/replicas/0", "value": 0}], "spec.replicas", "end the path"),
    ("Json", [{**ENV, "path": "/spec/template/spec/containers/cart/env/-"}], "is a list", "index"),
    ("Json", [{"op": "add", "path": "/metadata/labels/a~1b", "value": 1}], "metadata.labels.a/b", 'write "1"'),
    ("Json", [{"op": "test", "path": "/spec/replica", "value": 1}], "spec.replica", "/spec/replicas"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "document", "field", "hint"), WRONG_PATCHES)
def test_wrong_field_of_patch_is_found_with_a_hint(form: PatchForm, document: Any, field: str, hint: str) -> None:
    found = judge_change(patch(form, document), deployment())

    assert len(found) == 1, found
    assert field in found[0].message
    assert hint in f"{found[0].message} {found[0].expected} {found[0].fix}"


HONEST_PATCHES: list[tuple[PatchForm, Any]] = [
    ("Merge", {"spec": {"replicas": None}}),
    ("Merge", {"metadata": {"annotations": {"a/b": None, "c": "d"}}}),
    ("Merge", {"spec": {"template": None}}),
    ("Merge", {"spec": {"strategy": {"rollingUpdate": {"maxSurge": 1}}}}),
    ("Merge", inside({"name": "cart", "image": "cart:2"})),
    ("Merge", {"spec": {"template": {"spec": {"affinity": {"nodeAffinity": {}}}}}}),
    ("Strategic", inside({"name": "cart", "image": "cart:2", "resources": {"limits": {"memory": 1}}})),
    ("Strategic", inside({"name": "cart", "env": [{"name": "A", "$patch": "delete"}]})),
    ("Strategic", inside({"$patch": "delete", "name": "cart"})),
    ("Strategic", inside({"name": "cart", "env": [{"$patch": "replace"}, {"name": "A", "value": "1"}]})),
    ("Strategic", inside({"name": "cart", "$setElementOrder/env": [{"name": "B"}], "env": [{"name": "B"}]})),
    ("Strategic", inside({"name": "cart", "ports": [{"containerPort": 80}], "args": ["-v"]})),
    ("Strategic", inside({"name": "cart", "readinessProbe": {"$patch": "delete"}})),
    ("Strategic", inside({"name": "cart", "livenessProbe": {"httpGet": None, "exec": {"command": ["a"]}}})),
    ("Strategic", {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
    ("Strategic", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/b"]}}),
    ("Strategic", {"spec": {"template": {"spec": {"$setElementOrder/containers": [{"name": "cart"}]}}}}),
    ("Strategic", {"spec": {"selector": {"matchLabels": {"$patch": "replace", "a": "b"}}}}),
    ("Strategic", {"metadata": {"labels": {"a": None}}}),
    ("Json", [ENV]),
    ("Json", [{"op": "add", "path": "/metadata/annotations/a~1b", "value": "1"}]),
    ("Json", [{"op": "add", "path": "/metadata/labels", "value": {"a~b": "1"}}]),
    ("Json", [{"op": "remove", "path": "/spec/template/spec/containers/0/env/3/valueFrom/configMapKeyRef/optional"}]),
    ("Json", [{"op": "copy", "from": "/spec/template/metadata/labels/a", "path": "/metadata/labels/a~0b"}]),
    ("Json", [{"op": "replace", "path": "/spec/template/spec/containers/0/resources", "value": None}]),
    ("Json", [{"op": "replace", "path": "/spec/template/spec/containers/0/resources/limits/memory", "value": 1000}]),
    ("Json", [{"op": "add", "path": "/spec/template/spec/volumes/-", "value": {"name": "a", "emptyDir": {}}}]),
    ("Json", []),
]


@pytest.mark.parametrize(("form", "document"), HONEST_PATCHES)
def test_odd_but_legal_patch_has_no_finding(form: PatchForm, document: Any) -> None:
    assert judge_change(patch(form, document), deployment()) == []


def test_patch_of_an_object_outside_of_the_app_is_judged_by_the_preferred_version() -> None:
    found = judge_change(patch("Merge", {"spec": {"metric": []}}, "HorizontalPodAutoscaler/cart"))

    assert [mistake.name for mistake in found] == ["metrics"]


def test_patch_of_a_chaos_object_is_judged_by_its_kind() -> None:
    chaos = obj("chaos-mesh.org/v1alpha1", "NetworkChaos", spec={"action": "delay"})
    change = patch("Merge", {"spec": {"dely": {"latency": "2s"}}}, "NetworkChaos.chaos-mesh.org/cart")

    assert [mistake.name for mistake in judge_change(change, chaos)] == ["delay"]
    assert [mistake.name for mistake in judge_change(change)] == ["delay"]


def test_metadata_of_an_experiment_are_judged_and_nothing_else_of_it() -> None:
    experiment = {**chaos("PodChaos", action="pod-kil"), "metadata": {"name": "cart", "label": {"a": "b"}}}

    assert [mistake.name for mistake in judge_change(Change.from_json({"chaos": experiment}))] == ["labels"]


def test_applied_fields_of_a_known_object_need_not_be_complete() -> None:
    partial = {**deployment(), "spec": {"template": {"spec": {"containers": [{"name": "cart", "args": ["-v"]}]}}}}
    change = Change.from_json({"apply": partial})

    assert judge_change(change, deployment()) == []
    assert [mistake.expected for mistake in judge_change(change)] == ["`selector`"]


@pytest.mark.parametrize(
    ("api_version", "kind", "expected"),
    [
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", "autoscaling/v2"),
        ("policy/v1beta1", "PodDisruptionBudget", "policy/v1"),
        ("extensions/v1beta1", "Deployment", "apps/v1"),
        ("extensions/v1beta1", "Ingress", "networking.k8s.io/v1"),
        ("networking.k8s.io/v1beta1", "Ingress", "networking.k8s.io/v1"),
        ("batch/v1beta1", "CronJob", "batch/v1"),
        ("app/v1", "Deployment", "apps/v1"),
        ("v1", "Deployment", "apps/v1"),
        ("apps/v1", "Service", "v1"),
        ("apps/v1", "Deploymnet", "Deployment"),
        ("v1", "Configmap", "ConfigMap"),
        ("networking.k8s/v1", "Ingress", "networking.k8s.io/v1"),
    ],
)
def test_version_or_kind_that_is_not_served_is_found_with_the_right_one(
    api_version: str, kind: str, expected: str
) -> None:
    found = find_kind_mistake(obj(api_version, kind))

    assert found is not None
    assert "1.34" in found.message
    assert expected in f"{found.expected} {found.fix}"


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("apps/v1", "Deployment"),
        ("autoscaling/v1", "HorizontalPodAutoscaler"),
        ("serving.knative.dev/v1", "Service"),
        ("gateway.networking.k8s.io/v1", "Gateway"),
        ("crd.projectcalico.org/v1", "NetworkPolicy"),
        ("monitoring.coreos.com/v1", "ServiceMonitor"),
        ("storage.k8s.io/v1", "StorageClass"),
        ("chaos-mesh.org/v1alpha1", "PodChaos"),
    ],
)
def test_served_version_and_custom_resource_have_no_finding(api_version: str, kind: str) -> None:
    assert find_kind_mistake(obj(api_version, kind)) is None


def test_wrong_kind_of_a_created_object_is_placed_in_the_change() -> None:
    change = Change.from_json({"create": obj("policy/v1beta1", "PodDisruptionBudget")})

    assert [mistake.place for mistake in find_wrong_kinds(change)] == [("create", "apiVersion")]


def test_only_meaning_is_given_as_correction() -> None:
    assert judge(made_of(resource={}))[0].name == "resources"
    assert judge(made_of(resource={}, resources={}))[0].name == ""
    assert judge(deployment(replicas="3"))[0].value == 3
    assert judge(deployment(replicas="three"))[0].value is NO_VALUE


@pytest.mark.parametrize(
    ("old", "fields", "place"),
    [
        (
            {**obj("v1", "ConfigMap"), "immutable": True, "data": {"a": "b"}},
            {"data": {"a": "c"}},
            ("apply", "data"),
        ),
        (
            {**obj("v1", "Service"), "spec": {"selector": {"a": "b"}}},
            {"spec": {"clusterIP": "10.0.0.7"}},
            ("apply", "spec", "clusterIP"),
        ),
        (
            deployment(),
            {"spec": {"selector": {"matchLabels": {"app": "other"}}}},
            ("apply", "spec", "selector"),
        ),
        (
            {**obj("apps/v1", "StatefulSet"), "spec": {"volumeClaimTemplates": []}},
            {"spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]}},
            ("apply", "spec", "volumeClaimTemplates"),
        ),
        (
            {**obj("batch/v1", "Job"), "spec": {"template": {"spec": {"restartPolicy": "Never"}}}},
            {"spec": {"template": {"spec": {"restartPolicy": "OnFailure"}}}},
            ("apply", "spec", "template"),
        ),
    ],
    ids=["ConfigMap", "Service", "Deployment", "StatefulSet", "Job"],
)
def test_apply_of_a_field_that_cannot_change_is_found(old: Document, fields: Document, place: Place) -> None:
    head = {key: old[key] for key in ("apiVersion", "kind", "metadata")}
    app = Catalog().app("hotel-reservation", "6ecb097")
    found = list(find_wrong_fields(Change.from_json({"apply": {**head, **fields}}), [old], app))
    assert [wrong.place for wrong in found] == [place]
    labelled = {**head, "metadata": {**head["metadata"], "labels": {"a": "b"}}}
    assert list(find_wrong_fields(Change.from_json({"apply": labelled}), [old], app)) == []
