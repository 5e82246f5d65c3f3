"""Values of the right type that the API server refuses all the same, and odd ones that it takes.

Each was sent to an API server of Kubernetes 1.34 as a dry run, which refused or took it as is written here.
"""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.lint.object_fields.changes import find_wrong_fields, find_wrong_steps
from scenario_kit.lint.object_fields.invalid_values import find_invalid_values
from scenario_kit.lint.object_fields.mistake import FieldMistake
from scenario_kit.model import Change
from tests.lint.test_truth_rules import APP

Document = dict[str, Any]
LABELS = {"app": "cart"}
PORT = {"port": 80, "targetPort": 8080}
ASK = {"tcpSocket": {"port": 8080}}
LONG = "a" * 64


def pod(**spec: Any) -> Document:
    containers = [{"name": "cart", "image": "cart:1"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "cart"}, "spec": {"containers": containers, **spec}}


def container(**fields: Any) -> Document:
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "logs", "emptyDir": {}}]
    return pod(containers=[{"name": "cart", "image": "cart:1", **fields}], volumes=volumes)


def mount(part: Document) -> Document:
    return container(volumeMounts=[{"name": "data", "mountPath": "/a", **part}])


def volume(kind: str, source: Document) -> Document:
    return pod(volumes=[{"name": "a", kind: source}])


def deployment(labels: Document = LABELS, **spec: Any) -> Document:
    template = {"metadata": {"labels": labels}, "spec": pod()["spec"]}
    body = {"selector": {"matchLabels": LABELS}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cart"}, "spec": body}


def rolling(**update: Any) -> Document:
    return deployment(strategy={"type": "RollingUpdate", "rollingUpdate": update})


def service(**spec: Any) -> Document:
    body = {"selector": LABELS, "ports": [PORT], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart"}, "spec": body}


def quota(**hard: Any) -> Document:
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "cart"}, "spec": {"hard": hard}}


def config(kind: str = "ConfigMap", **body: Any) -> Document:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "cart"}, **body}


def named(**metadata: Any) -> Document:
    return config() | {"metadata": {"name": "cart", **metadata}}


REFUSED: list[tuple[Document, str]] = [
    (named(labels={"a b": "c"}), "`metadata.labels` has 'a b'"),
    (named(labels={"a/b/c": "d"}), "`metadata.labels` has 'a/b/c'"),
    (named(labels={LONG: "d"}), "no key of a label"),
    (named(labels={"a": "b c"}), "`metadata.labels.a` is 'b c'"),
    (named(labels={"a": "-b"}), "no value of a label"),
    (named(labels={"a": LONG}), "no value of a label"),
    (named(annotations={"a b": "c"}), "no key of an annotation"),
    (config(data={"a b": "c"}), "`data` has 'a b'"),
    (config(data={"..a": "c"}), "`data` has '..a'"),
    (config("Secret", stringData={"a/b": "c"}), "`stringData` has 'a/b'"),
    (service(selector={"a b": "c"}), "`spec.selector` has 'a b'"),
    (service(selector={"a": "b c"}), "`spec.selector.a`"),
    (service(ports=[{"port": 0}]), "`spec.ports[0].port` is 0"),
    (service(ports=[{"port": 80, "targetPort": 65536}]), "`spec.ports[0].targetPort` is 65536"),
    (service(ports=[{"port": 80, "targetPort": "a-name-that-is-too-long"}]), "`spec.ports[0].targetPort`"),
    (service(ports=[{"port": 80, "targetPort": "1234"}]), "`spec.ports[0].targetPort`"),
    (service(ports=[PORT, {"port": 81, "name": "b"}]), "`spec.ports[0]` lacks a name"),
    (service(ports=[{**PORT, "name": "a"}, {"port": 81, "name": "a"}]), "`spec.ports[1].name` is 'a'"),
    (pod(nodeSelector={"a b": "c"}), "`spec.nodeSelector` has 'a b'"),
    (pod(nodeSelector={"a": "b/c"}), "`spec.nodeSelector.a`"),
    (pod(dnsPolicy="None"), "lacks a name server"),
    (pod(dnsConfig={"nameservers": ["resolver"]}), "`spec.dnsConfig.nameservers[0]` is 'resolver'"),
    (pod(dnsConfig={"nameservers": ["10.0.0.256"]}), "no IP address"),
    (pod(dnsConfig={"nameservers": ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"]}), "too many"),
    (pod(tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]), "operator Exists"),
    (pod(tolerations=[{"value": "b", "effect": "NoSchedule"}]), "has no key"),
    (pod(volumes=[{"name": "Data", "emptyDir": {}}]), "`spec.volumes[0].name` is 'Data'"),
    (pod(volumes=[{"name": "a", "emptyDir": {}}] * 2), "a volume 'a' more than once"),
    (pod(containers=[{"name": "a", "image": "a:1"}] * 2), "a container 'a' more than once"),
    (container(name="Cart"), "`spec.containers[0].name` is 'Cart'"),
    (container(image=" cart:1"), "begins or ends with a space"),
    (container(ports=[{"containerPort": 0}]), "`spec.containers[0].ports[0].containerPort` is 0"),
    (container(ports=[{"containerPort": 80, "hostPort": 70000}]), "`spec.containers[0].ports[0].hostPort` is 70000"),
    (container(env=[{"name": "A=B"}]), "`spec.containers[0].env[0].name` is 'A=B'"),
    (container(env=[{"name": "Ä"}]), "`spec.containers[0].env[0].name` is 'Ä'"),
    (container(volumeMounts=[{"name": "none", "mountPath": "/a"}]), "the pod has no such volume"),
    (container(volumeMounts=[{"name": "data", "mountPath": "/a"}, {"name": "logs", "mountPath": "/a"}]), "another vol"),
    (mount({"subPath": ".."}), "leads out of the volume"),
    (mount({"subPath": "a/../../b"}), "leads out of the volume"),
    (mount({"subPath": "/b"}), "begins with /"),
    (mount({"subPathExpr": "../$(A)"}), "volumeMounts[0].subPathExpr`"),
    (mount({"subPath": "b", "subPathExpr": "c"}), "stands beside"),
    (volume("hostPath", {"path": "/a/../b"}), "`spec.volumes[0].hostPath.path`"),
    (volume("configMap", {"name": "c", "items": [{"key": "k", "path": "../x"}]}), "items[0].path`"),
    (volume("secret", {"items": [{"key": "k", "path": "/x"}]}), "secret.items[0].path` is /x"),
    (volume("projected", {"sources": [{"secret": {"items": [{"path": "..x"}]}}]}), "items[0].path` is ..x"),
    (pod(ephemeralContainers=[{"name": "shell", "image": "busybox:1"}]), "`spec.ephemeralContainers`"),
    (pod(initContainers=[{"name": "i", "image": "i:1", "readinessProbe": ASK}]), "initContainers[0].readinessProbe`"),
    (container(resources={"limits": {"memory": "-1"}}), "`spec.containers[0].resources.limits.memory` is -1"),
    (container(resources={"limits": {"cpu": "100m"}, "requests": {"cpu": "0.2"}}), "more than the limit of 100m"),
    (container(livenessProbe={"periodSeconds": 1}), "asks in 0 ways"),
    (container(livenessProbe={**ASK, "httpGet": {"port": 80}}), "asks in 2 ways"),
    (container(livenessProbe={"tcpSocket": {"port": 0}}), "`spec.containers[0].livenessProbe.tcpSocket.port` is 0"),
    (container(startupProbe={**ASK, "failureThreshold": -1}), "failureThreshold` is -1"),
    (container(livenessProbe={**ASK, "successThreshold": 2}), "a liveness probe succeeds at once"),
    (deployment(replicas=-1), "`spec.replicas` is -1"),
    (deployment(labels={"app": "other"}), "lacks app: cart"),
    (deployment(selector={"matchLabels": {"a b": "c"}}, labels={"a b": "c"}), "no key of a label"),
    (rolling(maxSurge=0, maxUnavailable="0%"), "neither a pod more nor a pod less"),
    (rolling(maxSurge="half"), "`spec.strategy.rollingUpdate.maxSurge` is 'half'"),
    (deployment(strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}), "the strategy Recreate"),
    (quota(memroy="1Gi"), "`spec.hard` has 'memroy'"),
    (quota(**{"x y": "1"}), "`spec.hard` has 'x y'"),
    (quota(**{"requests.memory": "-1"}), "`spec.hard.requests.memory` is -1"),
    (quota(pods="1.5"), "whole numbers"),
    (quota(**{"count/jobs.batch": "500m"}), "whole numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "message"), REFUSED, ids=lambda v: v if isinstance(v, str) else "")
def test_value_that_the_api_server_refuses_is_found(document: Document, message: str) -> None:
    found = list(find_invalid_values(document))

    assert found
    assert message in found[0].message, found
    assert all(each.observed and each.expected and each.fix for each in found)


TAKEN: list[Document] = [
    named(labels={"a.b/c_d": "e.f_g-h", "x": "", "1": "2"}, annotations={"A.b/C": "any text: of any form"}),
    config(data={"a.b": "c", "_": "", "A-b": "d", ".a": "e"}),
    service(selector=None, ports=[{"port": 65535, "targetPort": "http-1"}]),
    service(ports=[{**PORT, "name": "a"}, {**PORT, "port": 1, "name": "b"}]),
    container(volumeMounts=[{"name": "data", "mountPath": "/a:b"}]),
    pod(nodeSelector={"kubernetes.io/hostname": "a.b"}, dnsPolicy="None", dnsConfig={"nameservers": ["fd00::1"]}),
    pod(tolerations=[{"operator": "Exists"}, {"key": "a", "value": "b"}, {"key": "a"}]),
    container(env=[{"name": "a b.c-d/e"}, {"name": "1"}, {"name": "1"}]),
    container(ports=[{"containerPort": 65535, "hostPort": 0}]),
    container(volumeMounts=[{"name": "data", "mountPath": "/a"}, {"name": "logs", "mountPath": "/a/"}]),
    mount({"subPath": "a/..b/c.."}),
    mount({"subPath": "", "subPathExpr": "$(A)/b"}),
    volume("hostPath", {"path": "/a..b"}),
    volume("configMap", {"items": [{"key": "k", "path": "a/b"}]}),
    pod(ephemeralContainers=[]),
    pod(initContainers=[{"name": "i", "image": "i:1", "restartPolicy": "Always", "startupProbe": ASK}]),
    container(resources={"limits": {"memory": "1Gi", "cpu": 1}, "requests": {"memory": "1024Mi", "cpu": "1000m"}}),
    container(resources={"limits": {"memory": "0"}, "requests": {"memory": "0.0", "cpu": "5"}}),
    container(readinessProbe={**ASK, "successThreshold": 3}, livenessProbe={**ASK, "periodSeconds": 0, "grpc": None}),
    container(readinessProbe={"httpGet": {"port": "http"}}, startupProbe={"exec": {"command": ["true"]}}),
    deployment(labels={"app": "cart", "more": "x"}, replicas=0),
    rolling(maxSurge=0, maxUnavailable="100%"),
    rolling(maxSurge="0%"),
    quota(**{"pods": 0, "requests.memory": "0.1", "requests.nvidia.com/gpu": 1, "count/pods": "3", "cpu": "1.5"}),
    quota(**{"fast.storageclass.storage.k8s.io/requests.storage": "1Gi", "hugepages-2Mi": "4Mi"}),
]  # fmt: skip


@pytest.mark.parametrize("document", TAKEN, ids=lambda d: d["kind"])
def test_odd_value_that_the_api_server_takes_has_no_finding(document: Document) -> None:
    assert list(find_invalid_values(document)) == []


def test_placeholder_of_a_node_is_no_wrong_label() -> None:
    chosen = pod(nodeSelector={"kubernetes.io/hostname": "node:host:Deployment:cart"})

    assert list(find_invalid_values(chosen))
    assert list(find_invalid_values(chosen, lambda value: str(value).startswith("node:"))) == []


def test_volume_of_a_claim_template_can_be_mounted() -> None:
    spec = container(volumeMounts=[{"name": "store", "mountPath": "/a"}])["spec"]
    store = {"metadata": {"name": "store"}, "spec": {}}
    body = {"selector": {"matchLabels": LABELS}, "template": {"metadata": {"labels": LABELS}, "spec": spec}}
    stateful = {"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {**body, "volumeClaimTemplates": [store]}}

    assert list(find_invalid_values(stateful)) == []


def patch(target: str, document: Document) -> Change:
    return Change.from_json({"patch": {"target": target, "type": "Strategic", "patch": document}})


def inside(**fields: Any) -> Document:
    return {"spec": {"template": {"spec": {"containers": [{"name": "cart", **fields}]}}}}


def judge(change: Change, *objects: Document) -> list[FieldMistake]:
    return [wrong.mistake for wrong in find_wrong_fields(change, objects, APP)]


def test_limit_below_the_request_that_the_object_has_is_refused() -> None:
    resources = {"requests": {"memory": "256Mi"}, "limits": {"memory": "512Mi"}}
    known = deployment()
    known["spec"]["template"]["spec"]["containers"][0]["resources"] = resources

    (found,) = judge(patch("Deployment/cart", inside(resources={"limits": {"memory": "100Mi"}})), known)

    assert "requests.memory` is 256Mi, more than the limit of 100Mi" in found.message
    assert judge(patch("Deployment/cart", inside(resources={"limits": {"memory": "300Mi"}})), known) == []


def test_what_was_wrong_before_a_change_is_not_its_mistake() -> None:
    known = deployment(labels={"app": "other"})

    assert judge(patch("Deployment/cart", {"spec": {"replicas": 2}}), known) == []


def test_step_may_use_what_the_step_before_it_adds() -> None:
    volume = patch("Deployment/cart", {"spec": {"template": {"spec": {"volumes": [{"name": "a", "emptyDir": {}}]}}}})
    mount = patch("Deployment/cart", inside(volumeMounts=[{"name": "a", "mountPath": "/a"}]))

    assert [i for i, _ in find_wrong_steps((volume, mount), ((deployment(),),), APP)] == []
    assert [i for i, _ in find_wrong_steps((mount, volume), ((deployment(),),), APP)] == [0]


def test_repair_that_is_right_with_the_fault_in_force_is_not_reported() -> None:
    lowered = deployment()
    resources = {"requests": {"memory": "5Mi"}, "limits": {"memory": "5Mi"}}
    lowered["spec"]["template"]["spec"]["containers"][0]["resources"] = resources
    healthy = deployment()
    healthy["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"memory": "1Gi"}}
    raised = patch("Deployment/cart", inside(resources={"limits": {"memory": "100Mi"}}))

    assert list(find_wrong_steps((raised,), ((healthy,), (lowered,)), APP)) == []
    assert [i for i, _ in find_wrong_steps((raised,), ((healthy,),), APP)] == [0]
