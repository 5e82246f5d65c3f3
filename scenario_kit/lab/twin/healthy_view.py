"""The view of a rendered app as if all its pods were up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import Ledger
from scenario_kit.model.kubernetes.pod_labels import add_ordinal_labels, list_ordinals
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers, list_sidecars
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.kubernetes.secret import encode_secret

#: The most pods of a StatefulSet that are simulated.
_MAX_PODS: Final = 100


def build_view(namespace: str, objects: Iterable[Object]) -> View:
    """Build a view of the objects, with a ready pod for each workload, and each ordinal of a StatefulSet."""
    homes: dict[str, dict[str, dict[str, Object]]] = {namespace: {}}

    def put(kind: str, home: str, name: str, obj: Object) -> None:
        homes.setdefault(home, {"Namespace": {home: {"metadata": {"name": home, "labels": {}}}}})
        homes[home].setdefault(kind, {})[name] = obj

    put("Namespace", namespace, namespace, {"metadata": {"name": namespace, "labels": {}}})
    pods: list[Object] = []
    for obj in objects:
        home = obj["metadata"].get("namespace", namespace)
        if obj["kind"] != "Pod":
            put(obj["kind"], home, obj["metadata"]["name"], _copy_stored(obj))
        if obj["kind"] in WORKLOADS:
            template = obj["spec"]["template"]
            # Addresses name single pods of a StatefulSet; those of others are all alike.
            ordinals = list_ordinals(obj)[:_MAX_PODS] if obj["kind"] == "StatefulSet" else (0,)
        elif obj["kind"] == "Pod":
            template, ordinals = obj, (0,)
        else:
            continue
        for ordinal in ordinals or (list_ordinals(obj).start,):  # without replicas, its next pod
            pods.append(_build_pod(obj, template, home, ordinal, len(pods)))
            put("Pod", home, pods[-1]["metadata"]["name"], pods[-1])
    for number, service in enumerate([o for h in homes.values() for o in h.get("Service", {}).values()]):
        service["spec"].setdefault("clusterIP", f"10.96.{number // 250}.{number % 250 + 1}")
        home = service["metadata"].get("namespace", namespace)
        service["metadata"]["namespace"] = home
        put("EndpointSlice", home, service["metadata"]["name"], _slice(service, pods))
    others = {home: kinds for home, kinds in homes.items() if home != namespace}
    return View(namespace, homes[namespace], Ledger(), 0, others)


def _copy_stored(obj: Object) -> Object:
    """Copy an object, as a cluster stores it, for modification."""
    copy: dict[str, Any] = {**encode_secret(obj), "metadata": dict(obj["metadata"])}
    if "spec" in obj:
        copy["spec"] = dict(obj["spec"])
    return copy


def _build_pod(workload: Object, template: Object, home: str, ordinal: int, number: int) -> Object:
    owner = workload["metadata"]["name"]
    name = owner if workload is template else f"{owner}-{ordinal}"
    labels = dict((template.get("metadata") or {}).get("labels") or {})
    return {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": home,
            "uid": f"{home}/{workload['kind']}/{name}",
            "labels": add_ordinal_labels(labels, owner, ordinal) if workload["kind"] == "StatefulSet" else labels,
            "creationTimestamp": "2024-01-01T00:00:00Z",
            "workload": (workload["kind"], workload["metadata"]["name"]),
        },
        "spec": {**template["spec"], **_name_host(workload, name), "nodeName": "node-0"},
        "status": {
            "phase": "Running",
            "podIP": f"10.0.{number // 250}.{number % 250 + 1}",
            "containerStatuses": _build_statuses(template["spec"].get("containers") or ()),
            "initContainerStatuses": _build_statuses(list_sidecars(template["spec"])),
        },
    }


def _build_statuses(containers: Iterable[Object]) -> list[Object]:
    """Build the statuses of containers that all run."""
    running = {"running": {"startedAt": "2024-01-01T00:00:00Z"}}
    return [{"name": each["name"], "restartCount": 0, "state": running} for each in containers]


def _name_host(workload: Object, name: str) -> Object:
    """Return the hostname and subdomain that the controller gives to a pod of a StatefulSet."""
    if workload["kind"] != "StatefulSet":
        return {}
    return {"hostname": name, "subdomain": workload["spec"].get("serviceName") or ""}


def is_selected(service: Object, pod: Object) -> bool:
    """Return whether a Service selects a pod."""
    selector: Mapping[str, Any] = service["spec"].get("selector") or {}
    same = pod["metadata"]["namespace"] == service["metadata"]["namespace"]
    return bool(selector) and same and all(pod["metadata"]["labels"].get(k) == v for k, v in selector.items())


def _slice(service: Object, pods: Iterable[Object]) -> Object:
    selected = [pod for pod in pods if is_selected(service, pod)]
    return {
        "kind": "EndpointSlice",
        "metadata": {
            "name": service["metadata"]["name"],
            "namespace": service["metadata"]["namespace"],
            "labels": {"kubernetes.io/service-name": service["metadata"]["name"]},
        },
        "ports": [
            {"name": p.get("name", ""), "port": _find_target_port(p, selected), "protocol": p.get("protocol", "TCP")}
            for p in service["spec"].get("ports") or ()
        ],
        "endpoints": [
            {
                "addresses": [p["status"]["podIP"]],
                "conditions": {"ready": True},
                "nodeName": p["spec"]["nodeName"],
                "hostname": p["spec"].get("hostname")
                if p["spec"].get("subdomain") == service["metadata"]["name"]
                else "",
            }
            for p in selected
        ],
    }


def _find_target_port(port: Object, pods: Iterable[Object]) -> int | None:
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    named = {
        p.get("name"): int(p["containerPort"])
        for pod in pods
        for c in list_serving_containers(pod["spec"])
        for p in c.get("ports") or ()
    }
    return named.get(target)
