"""Every field that admission reads either has the right type, or the object is refused before it is judged."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import pytest

from scenario_kit.admission import derive_bounds, find_breaches
from scenario_kit.admission.amounts import check_totals
from scenario_kit.catalog import Catalog
from scenario_kit.model import App
from scenario_kit.render.objects.object_shape import find_misshapen

PROBE = {"httpGet": {"host": "10.0.0.1"}, "tcpSocket": {"host": "x.io"}, "exec": {"command": ["curl evil.io"]}}
CLAIM = {
    "resources": {"requests": {"storage": "1Gi"}},
    "dataSource": {"namespace": "other"},
    "dataSourceRef": {"namespace": "other"},
    "volumeName": "disk",
}
CONTAINER = {
    "name": "main",
    "image": "evil.io/x:1",
    "command": ["sh"],
    "env": [{"name": "CART_ADDR", "value": "evil.io"}],
    "livenessProbe": PROBE,
    "lifecycle": {"postStart": PROBE},
    "ports": [{"hostPort": 1}],
    "volumeDevices": [{}],
    "resources": {"limits": {"cpu": "1"}},
    "securityContext": {"capabilities": {"add": ["ALL"]}, "seccompProfile": {"type": "Unconfined"}},
}
POD = {
    "containers": [CONTAINER],
    "dnsConfig": {"nameservers": ["8.8.8.8"], "searches": ["evil.io"], "options": [{"name": "x"}]},
    "hostAliases": [{"ip": "8.8.8.8", "hostnames": ["cart"]}],
    "volumes": [
        {"name": "a", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": CLAIM}}},
        {"name": "b", "projected": {"sources": [{"serviceAccountToken": {"audience": "x"}}]}},
        {"name": "c", "hostPath": {"path": "/"}},
    ],
    "securityContext": {"sysctls": [{"name": "kernel.msgmax"}]},
    "resources": {"limits": {"evil.io/gpu": 1}},
    "priorityClassName": "high",
    "priority": 5,
}
WORKLOAD = {"replicas": 1, "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD}}
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("v1", "Pod"): {"spec": POD},
    ("apps/v1", "Deployment"): {"spec": WORKLOAD},
    ("apps/v1", "StatefulSet"): {"spec": {**WORKLOAD, "volumeClaimTemplates": [{"metadata": {}, "spec": CLAIM}]}},
    ("batch/v1", "CronJob"): {
        "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {"parallelism": 1, **WORKLOAD}}}
    },
    ("v1", "Service"): {
        "spec": {"externalIPs": ["8.8.8.8"], "clusterIPs": ["8.8.8.8"], "externalName": "x.io", "type": "NodePort"}
    },
    ("v1", "Endpoints"): {"subsets": [{"addresses": [{"ip": "8.8.8.8"}], "notReadyAddresses": [{"ip": "8.8.8.8"}]}]},
    ("discovery.k8s.io/v1", "EndpointSlice"): {"endpoints": [{"addresses": ["8.8.8.8"]}]},
    ("networking.k8s.io/v1", "Ingress"): {
        "spec": {
            "defaultBackend": {"resource": {"kind": "Bucket"}},
            "tls": [{"hosts": ["a.io"]}],
            "rules": [{"host": "b.io", "http": {"paths": [{"backend": {"resource": {"kind": "Bucket"}}}]}}],
        }
    },
    ("v1", "PersistentVolume"): {
        "spec": {"claimRef": {"namespace": "other", "name": "c"}, "hostPath": {"path": "/x"}, "nfs": {"server": "x"}}
    },
    ("v1", "PersistentVolumeClaim"): {"spec": CLAIM},
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"): {
        "webhooks": [
            {
                "clientConfig": {"url": "https://x.io", "service": {"namespace": "other"}},
                "namespaceSelector": {"matchLabels": {"a": "b"}},
                "rules": [{"scope": "*", "resources": ["pods"]}],
            }
        ]
    },
    ("v1", "ConfigMap"): {"data": {"a": "http://evil.io"}, "binaryData": {"b": "YQ=="}},
    ("v1", "Secret"): {"type": "Opaque", "stringData": {"a": "http://evil.io"}, "data": {"b": "YQ=="}},
    ("rbac.authorization.k8s.io/v1", "Role"): {
        "rules": [{"apiGroups": [""], "resources": ["pods"], "resourceNames": ["x"], "verbs": ["get"]}]
    },
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): {"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]},
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): {
        "subjects": [{"kind": "ServiceAccount", "name": "x", "namespace": "other"}],
        "roleRef": {"kind": "Role", "name": "x"},
    },
    ("chaos-mesh.org/v1alpha1", "JVMChaos"): {"spec": {"ruleData": "http://evil.io"}},
    ("chaos-mesh.org/v1alpha1", "StressChaos"): {"spec": {"stressors": {"cpu": {"workers": 1, "options": ["--x"]}}}},
    ("chaos-mesh.org/v1alpha1", "Schedule"): {
        "spec": {"schedule": "@every 5s", "historyLimit": 3, "type": "JVMChaos", "jvmChaos": {"ruleData": "x"}}
    },
}
STRANGE: tuple[Any, ...] = (
    5,
    5.5,
    "x",
    True,
    None,
    [],
    [5],
    [None],
    [["x"]],
    {},
    {"a": 5},
    {5: 5},
    math.nan,
    math.inf,
    "1e999999",
)
METADATA = {
    "name": "x",
    "namespace": "shop",
    "labels": {"a.io/b": "c"},
    "annotations": {"a.io/b": "c"},
    "finalizers": ["a.io/b"],
    "ownerReferences": [{"kind": "Pod"}],
}


@pytest.fixture(scope="module")
def app() -> App:
    catalog = Catalog()
    return catalog.app("otel-demo", catalog.versions("otel-demo")[0])


def list_places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if place:
        yield place
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from list_places(part, (*place, key))


def replace(document: dict[str, Any], place: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """Return a document with another value at a place; it shares all other parts."""
    copied: Any = dict(document)
    around = copied
    for key in place[:-1]:
        around[key] = copy.copy(around[key])
        around = around[key]
    around[place[-1]] = value
    return dict(copied)


@pytest.mark.parametrize(("version", "kind"), BODIES)
def test_no_type_of_a_field_ends_the_judgement(version: str, kind: str, app: App) -> None:
    whole = {"apiVersion": version, "kind": kind, "metadata": METADATA, **BODIES[version, kind]}
    assert find_misshapen(whole) == ""
    identity = {("apiVersion",), ("kind",), ("metadata",), ("metadata", "name")}
    for place in [p for p in list_places(whole) if p not in identity]:
        for value in STRANGE:
            obj = replace(whole, place, value)
            if find_misshapen(obj):
                continue
            for base, of_app in (((), False), ((obj,), True)):
                bounds = derive_bounds(app, "shop", base, (obj,), of_app=of_app, ready=(obj,))
                list(find_breaches(obj, None, bounds))
            list(check_totals([obj], ()))
