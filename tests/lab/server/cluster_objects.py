"""Builders of settled objects, which each test then unsettles in one respect."""

from __future__ import annotations

import copy
from typing import Any

from scenario_kit.lab.settle.checks import Facts
from scenario_kit.model import Object

NAMESPACE = "shop"


def meta(name: str, uid: str = "", owner: Object | None = None, **more: Any) -> Object:
    result: Object = {
        "name": name,
        "namespace": NAMESPACE,
        "uid": uid or f"uid-{name}",
        "resourceVersion": "100",
        "generation": 1,
        **more,
    }
    if owner:
        reference = {"kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
        result["ownerReferences"] = [{**reference, "controller": True}]
    return result


def deployment(name: str = "cart", replicas: int = 1) -> Object:
    return {
        "kind": "Deployment",
        "metadata": meta(name, f"d-{name}", annotations={"deployment.kubernetes.io/revision": "1"}),
        "spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate", "rollingUpdate": {}}},
        "status": {
            "observedGeneration": 1,
            "replicas": replicas,
            "updatedReplicas": replicas,
            "readyReplicas": replicas,
            "availableReplicas": replicas,
        },
    }


def replica_set(owner: Object, revision: int = 1, replicas: int = 1) -> Object:
    name = f"{owner['metadata']['name']}-r{revision}"
    return {
        "kind": "ReplicaSet",
        "metadata": meta(name, owner=owner, annotations={"deployment.kubernetes.io/revision": str(revision)}),
        "spec": {"replicas": replicas},
        "status": {
            "observedGeneration": 1,
            "replicas": replicas,
            "readyReplicas": replicas,
            "availableReplicas": replicas,
        },
    }


def pod(name: str, owner: Object | None = None, ip: str = "10.244.0.1", ready: bool = True) -> Object:
    return {
        "kind": "Pod",
        "metadata": meta(name, owner=owner, labels={"app": "cart"}),
        "spec": {
            "nodeName": "worker-1",
            "containers": [{"name": "c", "ports": [{"name": "http", "containerPort": 8080}]}],
        },
        "status": {
            "phase": "Running",
            "podIP": ip,
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        },
    }


def service(name: str = "cart", target: int | str = 8080) -> Object:
    ports = [{"name": "web", "port": 80, "targetPort": target, "protocol": "TCP"}]
    return {
        "kind": "Service",
        "metadata": meta(name, f"s-{name}"),
        "spec": {"selector": {"app": "cart"}, "ports": ports},
    }


def endpoint_slice(owner: Object, *addresses: tuple[str, bool], port: int = 8080) -> Object:
    name = owner["metadata"]["name"]
    labels = {
        "kubernetes.io/service-name": name,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    return {
        "kind": "EndpointSlice",
        "metadata": meta(f"{name}-x", owner=owner, labels=labels),
        "addressType": "IPv4",
        "ports": [{"name": "web", "port": port, "protocol": "TCP"}],
        "endpoints": [{"addresses": [ip], "conditions": {"ready": ready}} for ip, ready in addresses],
    }


def world() -> dict[str, dict[str, Object]]:
    """One Deployment with its ReplicaSet, pod, Service and slice, in a namespace that has what all have."""
    d = deployment()
    rs = replica_set(d)
    p = pod("cart-1", rs)
    s = service()
    return by_kind(
        d, rs, p, s, endpoint_slice(s, ("10.244.0.1", True)),
        {"kind": "ServiceAccount", "metadata": meta("default")},
        {"kind": "ConfigMap", "metadata": meta("kube-root-ca.crt")},
    )  # fmt: skip


def by_kind(*objects: Object) -> dict[str, dict[str, Object]]:
    kinds: dict[str, dict[str, Object]] = {}
    for obj in objects:
        kinds.setdefault(obj["kind"], {})[obj["metadata"]["name"]] = copy.deepcopy(obj)
    return kinds


def namespace(**more: Any) -> Object:
    return {"kind": "Namespace", "metadata": {"name": NAMESPACE, "uid": "ns", "resourceVersion": "1"} | more}


def facts(kinds: dict[str, dict[str, Object]], **more: Any) -> Facts:
    return Facts(**{"namespace": namespace(), "kinds": kinds, **more})


def put(kinds: dict[str, dict[str, Object]], path: str, value: Any) -> None:
    """Set ``Kind/name/field/…``; a value of None removes the field."""
    kind, name, *fields = path.split("/")
    place = kinds[kind][name]
    for field in fields[:-1]:
        place = place.setdefault(field, {})
    if value is None:
        place.pop(fields[-1])
    else:
        place[fields[-1]] = value
