"""Structural check of objects: the fields that rules and simulations read must have the right JSON type.

This is not a Kubernetes schema; the API server validates values. Missing and null fields are accepted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.model.chaos.kinds import GROUP
from scenario_kit.model.kubernetes.pod_template import locate_pod_spec, read_pod_spec

#: A mapping of any names to texts.
_TEXTS: Final = {"*": str}
_SELECTOR: Final[Mapping[str, Any]] = {"matchLabels": _TEXTS, "matchExpressions": [{}]}
_PROBE: Final = {"httpGet": {}, "tcpSocket": {}, "grpc": {}, "exec": {"command": [str]}}
_SOURCE: Final[Mapping[str, Any]] = {"configMapKeyRef": {}, "secretKeyRef": {}, "fieldRef": {}, "resourceFieldRef": {}}
_METADATA: Final = {
    "name": str, "namespace": str, "labels": _TEXTS, "annotations": _TEXTS, "finalizers": [str],
    "ownerReferences": [{}],
}  # fmt: skip
_AMOUNTS: Final[Mapping[str, Any]] = {"limits": {}, "requests": {}}
_CONTEXT: Final = {
    "capabilities": {"add": [str], "drop": [str]}, "seccompProfile": {"type": str}, "sysctls": [{"name": str}],
}  # fmt: skip
_CONTAINER: Final = {
    "name": str, "image": str, "command": [str], "args": [str],
    "env": [{"name": str, "value": str, "valueFrom": _SOURCE}],
    "envFrom": [{"configMapRef": {}, "secretRef": {}}], "ports": [{}], "volumeMounts": [{}],
    "resources": _AMOUNTS, "securityContext": _CONTEXT,
    "readinessProbe": _PROBE, "livenessProbe": _PROBE, "startupProbe": _PROBE,
    "lifecycle": {"postStart": _PROBE, "preStop": _PROBE},
}  # fmt: skip
_CLAIM: Final = {
    "resources": _AMOUNTS, "volumeName": str, "dataSource": {"namespace": str}, "dataSourceRef": {"namespace": str},
}  # fmt: skip
_CLAIM_TEMPLATE: Final = {"metadata": _METADATA, "spec": _CLAIM}
_VOLUME: Final = {
    "name": str, "hostPath": {}, "emptyDir": {}, "configMap": {}, "secret": {}, "persistentVolumeClaim": {},
    "projected": {"sources": [{"configMap": {}, "secret": {}, "serviceAccountToken": {}}]},
    "ephemeral": {"volumeClaimTemplate": _CLAIM_TEMPLATE},
}  # fmt: skip
_POD: Final = {
    "containers": [_CONTAINER], "initContainers": [_CONTAINER], "ephemeralContainers": [_CONTAINER],
    "volumes": [_VOLUME], "nodeSelector": _TEXTS, "affinity": {}, "tolerations": [{}], "securityContext": _CONTEXT,
    "resources": _AMOUNTS, "priorityClassName": str, "hostAliases": [{"ip": str, "hostnames": [str]}],
    "dnsConfig": {"nameservers": [str], "searches": [str], "options": [{}]},
}  # fmt: skip
_TEMPLATED: Final = {"template": {"metadata": _METADATA, "spec": _POD}}
_WORKLOAD: Final[Mapping[str, Any]] = {**_TEMPLATED, "selector": _SELECTOR}
_BACKEND: Final = {"service": {}, "resource": {"kind": str}}
#: The structure of ``spec`` by kind.
_SPECS: Final[Mapping[str, Any]] = {
    "Pod": _POD,
    **dict.fromkeys(("Deployment", "DaemonSet", "ReplicaSet"), _WORKLOAD),
    "StatefulSet": {**_WORKLOAD, "volumeClaimTemplates": [_CLAIM_TEMPLATE]},
    "Job": _TEMPLATED,
    "CronJob": {"jobTemplate": {"spec": _TEMPLATED}},
    "Service": {"selector": _TEXTS, "ports": [{}], "externalIPs": [str], "clusterIPs": [str]},
    "Ingress": {
        "defaultBackend": _BACKEND, "tls": [{"hosts": [str]}],
        "rules": [{"host": str, "http": {"paths": [{"backend": _BACKEND}]}}],
    },
    "NetworkPolicy": {"podSelector": _SELECTOR, "ingress": [{}], "egress": [{}], "policyTypes": [str]},
    "PodDisruptionBudget": {"selector": _SELECTOR},
    "PersistentVolumeClaim": _CLAIM,
    "PersistentVolume": {
        "hostPath": {}, "local": {}, "claimRef": {"name": str, "namespace": str}, "capacity": {}, "nodeAffinity": {},
    },
    "HorizontalPodAutoscaler": {"scaleTargetRef": {}, "metrics": [{}]},
}  # fmt: skip
_ROLE: Final = {
    "rules": [
        {"apiGroups": [str], "resources": [str], "resourceNames": [str], "nonResourceURLs": [str], "verbs": [str]}
    ]
}
_WEBHOOKS: Final = {
    "webhooks": [
        {
            "clientConfig": {"url": str, "service": {"namespace": str}}, "namespaceSelector": _SELECTOR,
            "rules": [{"resources": [str], "scope": str}],
        }
    ]
}  # fmt: skip
_ADDRESS: Final = [{"ip": str}]
_DATA: Final = {"data": _TEXTS, "stringData": _TEXTS, "binaryData": _TEXTS}
#: The structure of other fields by kind.
_BODIES: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("ConfigMap", "Secret"), _DATA),
    **dict.fromkeys(("Role", "ClusterRole"), _ROLE),
    **dict.fromkeys(("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"), _WEBHOOKS),
    "Endpoints": {"subsets": [{"addresses": _ADDRESS, "notReadyAddresses": _ADDRESS}]},
    "EndpointSlice": {"endpoints": [{"addresses": [str]}]},
}
_PODS: Final = {"namespaces": [str], "labelSelectors": {}, "expressionSelectors": [{}], "pods": {}}
_CHAOS: Final = {"mode": str, "action": str, "duration": str, "type": str, "schedule": str, "selector": _PODS}
_OBJECT: Final = {
    "apiVersion": str, "kind": str, "metadata": _METADATA, "spec": {}, "data": {}, "stringData": {}, "rules": [{}],
    "subjects": [{}], "roleRef": {}, "webhooks": [{}],
}  # fmt: skip
_NAMES: Final = {str: "a string", dict: "a mapping", list: "a list"}


def find_misshapen(obj: Mapping[str, Any]) -> str:
    """Describe the first field of the wrong type, and the type it must have; empty if all are right."""
    kind = obj.get("kind")
    default = _CHAOS if str(obj.get("apiVersion", "")).startswith(f"{GROUP}/") else {}
    shape = {**_OBJECT, "spec": {}}
    if isinstance(kind, str):
        shape |= {"spec": _SPECS.get(kind, default), **_BODIES.get(kind, {})}
    return next(_find_wrong(obj, shape, ""), "")


def find_lacking(obj: Mapping[str, Any]) -> str:
    """Return the place of the first required field without which rules and simulations cannot read an object of a right
    shape; empty if there are all.
    """
    return next(_list_lacking(obj), "")


def _list_lacking(obj: Mapping[str, Any]) -> Iterator[str]:
    spec = obj.get("spec") or {}
    if obj["kind"] == "Service":
        yield from _list_entries_without("port", spec.get("ports"), "spec.ports")
    if obj["kind"] not in _SPECS:
        return
    spec, place = read_pod_spec(obj), ".".join(locate_pod_spec(obj["kind"]))
    for part in ("initContainers", "containers"):
        yield from _list_entries_without("name", spec.get(part), f"{place}.{part}")
        yield from _list_entries_without("image", spec.get(part), f"{place}.{part}")
        for i, container in enumerate(spec.get(part) or ()):
            inside = f"{place}.{part}[{i}]"
            yield from _list_entries_without("name", container.get("env"), f"{inside}.env")
            yield from _list_entries_without("containerPort", container.get("ports"), f"{inside}.ports")
            yield from _list_entries_without("name", container.get("volumeMounts"), f"{inside}.volumeMounts")
    yield from _list_entries_without("name", spec.get("volumes"), f"{place}.volumes")


def _list_entries_without(key: str, entries: Any, place: str) -> Iterator[str]:
    for i, entry in enumerate(entries or ()):
        if entry.get(key) in (None, ""):
            yield f"{place}[{i}].{key}"


def _find_wrong(value: Any, shape: Any, place: str) -> Iterator[str]:
    expected: Any = shape if isinstance(shape, type) else type(shape)
    if value is None:
        return
    if not isinstance(value, expected):
        yield f"{place} must be {_NAMES[expected]}{_explain_unquoted(value) if expected is str else ''}"
    elif isinstance(shape, dict):
        for key, part in dict.fromkeys(value, shape["*"]).items() if "*" in shape else shape.items():
            if key in value:
                yield from _find_wrong(value[key], part, f"{place}.{key}".lstrip("."))
    elif isinstance(shape, list):
        for i, item in enumerate(value):
            yield from (
                _find_wrong(item, shape[0], f"{place}[{i}]") if item is not None else [f"{place}[{i}] is missing"]
            )


def _explain_unquoted(value: Any) -> str:
    """Say how YAML reads a text without quotes that is a number or a word of its own, as kubectl does."""
    if not isinstance(value, bool | int | float):
        return ""
    return f", not {json.dumps(value)}: put its text in quotes"
