"""Labels, annotations and other metadata that cluster components act on.

Only keys of an allow-list and those of the app itself are admitted: an annotation can make a pod static, map an
account to a cloud role, or make a load balancer public.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.admission.bounds import RBAC, AdmissionBounds, find_marks, find_metadata
from scenario_kit.admission.breach import Breach
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.schema.writable import OWNED

#: Domains whose keys are descriptive, or affect only the object's own pods.
_DOMAINS: Final = frozenset(
    {
        "app.kubernetes.io", "helm.sh", "kubectl.kubernetes.io", "meta.helm.sh", "opentelemetry.io",
        "resource.opentelemetry.io", "prometheus.io",
    }
)  # fmt: skip
_KEYS: Final = frozenset(
    {
        "cluster-autoscaler.kubernetes.io/safe-to-evict", "controller.kubernetes.io/pod-deletion-cost",
        "deployment.kubernetes.io/revision", "endpointslice.kubernetes.io/managed-by", "istio-injection",
        "istio.io/dataplane-mode", "istio.io/rev", "istio.io/use-waypoint", "kubernetes.io/arch",
        "kubernetes.io/change-cause", "kubernetes.io/description", "kubernetes.io/hostname", "kubernetes.io/os",
        "kubernetes.io/service-name", "nginx.ingress.kubernetes.io/backend-protocol",
        "nginx.ingress.kubernetes.io/proxy-body-size", "nginx.ingress.kubernetes.io/proxy-connect-timeout",
        "nginx.ingress.kubernetes.io/proxy-read-timeout", "nginx.ingress.kubernetes.io/proxy-send-timeout",
        "nginx.ingress.kubernetes.io/rewrite-target", "nginx.ingress.kubernetes.io/ssl-redirect",
        "nginx.ingress.kubernetes.io/use-regex", "service.kubernetes.io/headless",
        "service.kubernetes.io/topology-mode", "service.kubernetes.io/traffic-distribution",
        "sidecar.istio.io/inject", "topology.kubernetes.io/region", "topology.kubernetes.io/zone",
        "traffic.sidecar.istio.io/excludeInboundPorts", "traffic.sidecar.istio.io/excludeOutboundPorts",
        "traffic.sidecar.istio.io/includeInboundPorts", "traffic.sidecar.istio.io/includeOutboundPorts",
    }
)  # fmt: skip
#: Place without a domain on which components of other namespaces act: Grafana and Loki load such ConfigMaps from every
#: namespace, and pods with the last one get an identity of the cloud.
_CONSUMED: Final = frozenset(
    {
        "grafana_alert", "grafana_dashboard", "grafana_datasource", "grafana_notifier", "grafana_plugin", "loki_rule",
        "aadpodidbinding",
    }
)  # fmt: skip
#: Annotations copied into a shared proxy configuration; one word only, so that no directive can be injected.
_NGINX: Final = "nginx.ingress.kubernetes.io"
_PLAIN: Final = re.compile(r"[A-Za-z0-9/$._()*-]{1,200}")
#: Fields of metadata that an author writes; the last two have checks of their own.
_METADATA: Final = ("name", "namespace", "labels", "annotations", "finalizers", "ownerReferences")
#: The pod security standards, and the labels of a namespace that choose one.
_SECURITY: Final = "pod-security.kubernetes.io/"
_STANDARDS: Final = ("baseline", "restricted")
#: Labels that a namespace may get: they affect its own pods, but no policies of other namespaces.
_OF_NAMESPACES: Final = frozenset(
    {"istio-injection", "istio.io/dataplane-mode", "istio.io/rev", "istio.io/use-waypoint"}
)


def check_marks(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check metadata that makes cluster components keep, remove or act on an object."""
    for keys, metadata in find_metadata(obj):
        yield from _check_metadata(metadata, keys, bounds)
    if obj["kind"] == "PriorityClass" and obj.get("globalDefault"):
        yield Breach("SK220", ("globalDefault",), True, "is the priority of every new pod in the cluster")
    for keys, found in find_marks(obj):
        for key, value in found.items():
            yield from _check_key(obj, (*keys, key), str(key), str(value), bounds)


def _check_metadata(metadata: Mapping[str, Any], keys: Place, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check the metadata of an object or of a template, from which controllers copy it to what they create."""
    for i, text in enumerate(metadata.get("finalizers") or ()):
        note = f"has the finalizer '{text}', which blocks its deletion"
        yield Breach("SK220", (*keys, "finalizers", i), text, note)
    for i, owner in enumerate(metadata.get("ownerReferences") or ()):
        kind = owner.get("kind") if isinstance(owner, Mapping) else owner
        yield Breach("SK220", (*keys, "ownerReferences", i, "kind"), kind, "has an owner, which would delete it")
    for field, value in metadata.items():
        if field not in _METADATA and value and not bounds.of_app:
            note = f"has `metadata.{field}`, which only the API server writes"
            yield Breach("SK238", (*keys, field), field, note, expected=" | ".join(_METADATA[:4]))


def _check_key(obj: Object, keys: Place, key: str, value: str, bounds: AdmissionBounds) -> Iterator[Breach]:
    domain = key.partition("/")[0] if "/" in key else ""
    if domain == GROUP:
        yield Breach("SK220", keys, key, f"has '{key}', by which the kit recognises its own objects")
    elif obj["kind"] == "Namespace" and keys[:2] == ("metadata", "labels"):
        yield from _check_namespace_label(keys, key, value, bounds)
    elif _is_foreign(key, domain) and key not in bounds.keys:
        cluster = domain.endswith(("kubernetes.io", "k8s.io")) or obj["kind"] == "ServiceAccount"
        if key.startswith(f"{RBAC}/aggregate-to-") or (bounds.of_app and not cluster):
            return  # covered by the rules on permissions; or the app's own, which is reviewed as a whole
        note = f"has the {str(keys[-2]).rstrip('s')} '{key}', on which a component of the cluster may act"
        yield Breach("SK238", keys, key, note, expected="a descriptive key without a domain, or one that the app uses")
    elif domain == _NGINX and not bounds.of_app and not _PLAIN.fullmatch(value):
        note = f"has the {str(keys[-2]).rstrip('s')} '{key}' with a value that could inject nginx directives"
        yield Breach("SK238", keys, value, note, expected="one number, word or path, without spaces and ;{}")


def _is_foreign(key: str, domain: str) -> bool:
    """Return whether a component of the cluster may act on a key."""
    return key in _CONSUMED or ("." in domain and domain not in _DOMAINS and key not in _KEYS)


def _check_namespace_label(keys: Place, key: str, value: str, bounds: AdmissionBounds) -> Iterator[Breach]:
    if key == OWNED[0] and value != OWNED[1]:
        note = f"loses the label '{key}: {OWNED[1]}', by which the operator knows its namespaces"
        yield Breach("SK220", keys, value, note, expected=OWNED[1])
    elif key.startswith(_SECURITY):
        if key.endswith("-version") or value in _STANDARDS:
            yield Breach("SK202", keys, key, f"has the label '{key}: {value}'", "PodSecurity")
        else:
            note = f"has the label '{key}: {value}', which gives pods full access to their node"
            yield Breach("SK220", keys, value, note, expected=" | ".join(_STANDARDS))
    elif key not in _OF_NAMESPACES and key not in bounds.keys and not key.startswith("app.kubernetes.io/"):
        note = f"has the label '{key}', by which other policies may select the namespace"
        yield Breach("SK238", keys, key, note, expected=" | ".join(sorted(_OF_NAMESPACES)))
