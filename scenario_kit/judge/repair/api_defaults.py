"""Complete workloads and Services with the defaults of the API server. Pure.

Source: the API reference, https://kubernetes.io/docs/reference/kubernetes-api/. An object compared with a live one must
be complete: otherwise a default looks like a change, and a change of a field that the author left out like a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.difference import Path
from scenario_kit.model.kubernetes.reference import WORKLOADS

#: Kinds whose defaults are known completely.
COMPLETED: Final = frozenset({*WORKLOADS, "Service"})
_ROLLING: Final = {"maxSurge": "25%", "maxUnavailable": "25%"}
_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Service": {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"},
    "Deployment": {
        "replicas": 1, "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": _ROLLING},
    },
    "StatefulSet": {
        "replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady", "serviceName": "",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    },
    "DaemonSet": {
        "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
    },
}  # fmt: skip
_POD: Final = {
    "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler", "securityContext": {},
}  # fmt: skip
_CONTAINER: Final = {
    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "resources": {},
}  # fmt: skip
_PROBE: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_PROBES: Final = ("readinessProbe", "livenessProbe", "startupProbe")
#: Parts of a pod spec that hold containers.
_CONTAINERS: Final = ("initContainers", "containers")
#: Volumes of files, whose mode has a default.
_FILES: Final = ("configMap", "secret", "projected", "downwardAPI")
_MODE: Final = 0o644
#: Fields whose values the cluster assigns; the last one is an alias of ``serviceAccountName``.
_ASSIGNED: Final = frozenset({
    "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "nodePort", "healthCheckNodePort",
    "externalTrafficPolicy", "allocateLoadBalancerNodePorts", "sessionAffinityConfig", "volumeClaimTemplates",
    "creationTimestamp", "serviceAccount",
})  # fmt: skip
#: Last parts of paths deep within sources of variables, volumes and handlers, where the API server adds defaults.
_NESTED: Final = frozenset({"divisor", "scheme", "apiVersion", "defaultMode", "expirationSeconds", "service"})


def is_assigned(path: Path) -> bool:
    """Return whether the cluster chooses the value of a field that its author leaves out."""
    return not _ASSIGNED.isdisjoint(path) or not _NESTED.isdisjoint(path[-1:])


def complete_object(obj: Object) -> Object:
    """Return a workload or Service with the defaults of the API server; what it has itself stays."""
    if obj["kind"] not in COMPLETED or not isinstance(obj.get("spec"), Mapping):
        return obj
    spec = {**_DEFAULTS[obj["kind"]], **obj["spec"]}
    for field in ("strategy", "updateStrategy"):
        if field in spec:
            spec[field] = _complete_strategy(spec[field], _DEFAULTS[obj["kind"]][field])
    if obj["kind"] == "Service":
        spec |= {"ports": [_complete_service_port(each) for each in spec.get("ports") or ()]}
    elif isinstance(spec.get("template"), Mapping):
        spec["template"] = {**spec["template"], "spec": _complete_pod(spec["template"].get("spec") or {})}
    return {**obj, "spec": spec}


def _complete_strategy(strategy: Any, default: Mapping[str, Any]) -> Any:
    kind = (strategy or {}).get("type") or default["type"]
    if kind != default["type"]:
        return strategy
    return {
        "type": kind,
        "rollingUpdate": {**default["rollingUpdate"], **((strategy or {}).get("rollingUpdate") or {})},
    }


def _complete_service_port(port: Mapping[str, Any]) -> dict[str, Any]:
    return {"protocol": "TCP", "targetPort": port.get("port"), **port}


def _complete_pod(pod: Mapping[str, Any]) -> dict[str, Any]:
    completed = {**_POD, **pod}
    for part in _CONTAINERS:
        if part in completed:
            completed[part] = [_complete_container(each) for each in completed[part] or ()]
    if "volumes" in completed:
        completed["volumes"] = [_complete_volume(each) for each in completed["volumes"] or ()]
    return completed


def _complete_container(container: Mapping[str, Any]) -> dict[str, Any]:
    image = str(container.get("image", ""))
    latest = "@" not in image and image.rpartition("/")[2].partition(":")[2] in ("", "latest")
    completed = {"imagePullPolicy": "Always" if latest else "IfNotPresent", **_CONTAINER, **container}
    if completed.get("ports"):
        completed["ports"] = [{"protocol": "TCP", **each} for each in completed["ports"]]
    for probe in _PROBES:
        if completed.get(probe):
            completed[probe] = _complete_probe(completed[probe])
    if completed.get("env"):
        completed["env"] = [_complete_variable(each) for each in completed["env"]]
    return completed


def _complete_probe(probe: Mapping[str, Any]) -> dict[str, Any]:
    completed = {**_PROBE, **probe}
    if completed.get("httpGet"):
        completed["httpGet"] = {"scheme": "HTTP", "path": "/", **completed["httpGet"]}
    if completed.get("grpc"):
        completed["grpc"] = {"service": "", **completed["grpc"]}
    return completed


def _complete_variable(variable: Mapping[str, Any]) -> Mapping[str, Any]:
    source = variable.get("valueFrom") or {}
    if "fieldRef" not in source:
        return variable
    return {**variable, "valueFrom": {**source, "fieldRef": {"apiVersion": "v1", **source["fieldRef"]}}}


def _complete_volume(volume: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: {"defaultMode": _MODE, **value} if key in _FILES and isinstance(value, Mapping) else value
        for key, value in volume.items()
    }
