"""Addresses that a change writes: only the app's, or unassigned ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from typing import Any, Final

from scenario_kit.admission.bounds import AdmissionBounds
from scenario_kit.admission.breach import NODE, Breach
from scenario_kit.admission.foreign_hosts import is_own_name
from scenario_kit.admission.hosts import NOWHERE, PRIVATE, is_within
from scenario_kit.admission.pods import find_pod_specs
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place, list_mappings
from scenario_kit.schema.writable import CLUSTER

#: Networks that host aliases may refer to: private ones and loopback.
_NAMED: Final = (*NOWHERE, *PRIVATE, ip_network("127.0.0.0/8"), ip_network("::1/128"))
_EXPECTED: Final = "an address for documentation, such as 192.0.2.1, or a selector of the app's pods"
_WEBHOOKS: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
#: Resources that a webhook may intercept: plain objects of the app.
_INTERCEPTABLE: Final = frozenset(
    {
        "configmaps", "cronjobs", "daemonsets", "deployments", "endpoints", "horizontalpodautoscalers", "ingresses",
        "jobs", "persistentvolumeclaims", "poddisruptionbudgets", "pods", "replicasets", "services", "statefulsets",
    }
)  # fmt: skip
#: The label by which a namespace is selected by its name.
_NAME: Final = "kubernetes.io/metadata.name"


def check_addresses(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Report addresses that are not the app's."""
    kind = obj["kind"]
    if kind == "Service":
        yield from _check_service(obj, bounds)
    elif kind in ("EndpointSlice", "Endpoints"):
        for keys, address in _find_endpoints(obj):
            if not is_within(address, NOWHERE):
                note = f"sends requests to {address}, which need not be a pod of the app"
                yield Breach("SK237", keys, address, note, expected=_EXPECTED)
    elif kind in _WEBHOOKS:
        yield from _check_webhooks(obj, bounds)
    elif kind == "Ingress":
        yield from _check_ingress(obj, bounds)
    elif kind == "AuthorizationPolicy":
        yield from _check_delegation(obj, bounds)
    elif kind == "PersistentVolume":
        claim = (obj.get("spec") or {}).get("claimRef") or {}
        if claim and claim.get("namespace") not in bounds.namespaces:
            note = f"is reserved for a claim in '{claim.get('namespace')}', which is not the app's namespace"
            yield Breach("SK236", ("spec", "claimRef", "namespace"), claim.get("namespace"), note)
    for keys, spec in find_pod_specs(obj):
        for i, alias in enumerate(spec.get("hostAliases") or ()):
            address = alias.get("ip") if isinstance(alias, Mapping) else alias
            if not is_within(address, _NAMED):
                note = f"maps host names to {address}, which is not an address of the cluster"
                yield Breach("SK237", (*keys, "hostAliases", i, "ip"), address, note, expected=_EXPECTED)


def _check_service(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    spec: Mapping[str, Any] = obj.get("spec") or {}
    for i, address in enumerate(spec.get("externalIPs") or ()):
        note = f"takes over {address} on every node, regardless of its owner"
        yield Breach(
            "SK237", ("spec", "externalIPs", i), address, note, expected="a Service without external addresses"
        )
    for field in ("loadBalancerIP", "externalName"):
        value = str(spec.get(field) or "")
        if value and not (field == "externalName" and is_own_name(value, bounds)):
            note = f"refers to '{value}', which is not the app's"
            expected = "<service>.<namespace of the app>.svc.cluster.local, or a name below .invalid"
            yield Breach("SK237", ("spec", field), value, note, expected=expected)
    for i, address in enumerate((spec.get("clusterIP"), *(spec.get("clusterIPs") or ()))):
        if address and address != "None" and not bounds.of_app:
            place: Place = ("spec", "clusterIPs", i - 1) if i else ("spec", "clusterIP")
            note = f"requests the cluster address {address}"
            yield Breach("SK237", place, address, note, expected="None, or an address assigned by the API server")
    if not bounds.of_app and spec.get("type") in ("NodePort", "LoadBalancer"):
        note = f"has `type: {spec['type']}`, which exposes the app outside the cluster"
        yield Breach("SK202", ("spec", "type"), spec["type"], note, CLUSTER)


def _check_ingress(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check that an Ingress takes requests only for hosts of the app, and passes them to Services."""
    of_app = {host for o in bounds.before if o["kind"] == "Ingress" for _, host in _list_ingress_hosts(o)}
    for keys, host in _list_ingress_hosts(obj):
        if not bounds.of_app and host not in of_app and not (host and is_own_name(host, bounds)):
            whose = f"host '{host}', which is not the app's" if host else "every host"
            note = f"takes requests for {whose}"
            yield Breach("SK237", keys, host, note, expected="a host of the app's Ingress, or one below .example")
    for keys, backend in _list_backends(obj.get("spec") or {}):
        if backend.get("resource"):
            kind = str((backend["resource"] or {}).get("kind"))
            note = f"passes requests to an object of kind {kind}, which the controller interprets"
            yield Breach("SK237", (*keys, "resource"), kind, note, expected="a Service of the app")


def _check_delegation(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check that a policy of the mesh decides itself, rather than ask a provider of the mesh's own configuration."""
    spec: Mapping[str, Any] = obj.get("spec") or {}
    if spec.get("action") == "CUSTOM" and not bounds.of_app:
        name = (spec.get("provider") or {}).get("name")
        note = f"sends requests to the provider '{name}' of the mesh, which is not the app's"
        yield Breach("SK237", ("spec", "action"), "CUSTOM", note, expected="ALLOW | DENY | AUDIT")


def _list_ingress_hosts(obj: Object) -> Iterator[tuple[Place, str]]:
    """List the hosts of an Ingress; an empty one stands for all."""
    spec: Mapping[str, Any] = obj.get("spec") or {}
    if spec.get("defaultBackend"):
        yield ("spec", "defaultBackend"), ""
    for i, rule in list_mappings(spec.get("rules")):
        yield ("spec", "rules", i, "host"), str(rule.get("host") or "")
    for i, each in list_mappings(spec.get("tls")):
        for j, host in enumerate(each.get("hosts") or ()):
            yield ("spec", "tls", i, "hosts", j), str(host)


def _list_backends(spec: Mapping[str, Any]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    if isinstance(spec.get("defaultBackend"), Mapping):
        yield ("spec", "defaultBackend"), spec["defaultBackend"]
    for i, rule in list_mappings(spec.get("rules")):
        for j, path in list_mappings((rule.get("http") or {}).get("paths")):
            if isinstance(path.get("backend"), Mapping):
                yield ("spec", "rules", i, "http", "paths", j, "backend"), path["backend"]


def _find_endpoints(obj: Object) -> Iterator[tuple[Place, Any]]:
    for i, each in enumerate(obj.get("endpoints") or ()):
        for j, address in enumerate((each.get("addresses") if isinstance(each, Mapping) else ()) or ()):
            yield ("endpoints", i, "addresses", j), address
    for i, subset in enumerate(obj.get("subsets") or ()):
        for field in ("addresses", "notReadyAddresses"):
            for j, address in enumerate((subset.get(field) if isinstance(subset, Mapping) else ()) or ()):
                value = address.get("ip") if isinstance(address, Mapping) else address
                yield ("subsets", i, field, j, "ip"), value


def _check_webhooks(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check that webhooks are served in the app's namespace and intercept nothing else."""
    for i, hook in enumerate(obj.get("webhooks") or ()):
        if not isinstance(hook, Mapping):
            continue
        client: Mapping[str, Any] = hook.get("clientConfig") or {}
        place: Place = ("webhooks", i, "clientConfig")
        if client.get("url"):
            yield Breach("SK220", (*place, "url"), client["url"], "sends objects to an external address")
        home = (client.get("service") or {}).get("namespace")
        if client.get("service") and home not in bounds.namespaces:
            note = f"sends objects to a Service in '{home}', which is not the app's namespace"
            yield Breach("SK220", (*place, "service", "namespace"), home, note)
        selector: Mapping[str, Any] = hook.get("namespaceSelector") or {}
        name = (selector.get("matchLabels") or {}).get(_NAME, "")
        if name not in bounds.homes:
            note = f"intercepts more than the app: no `{_NAME}`"
            yield Breach("SK220", ("webhooks", i, "namespaceSelector"), name, note)
        for j, rule in enumerate(hook.get("rules") or ()):
            # A namespace selector does not restrict cluster-scoped objects.
            if not isinstance(rule, Mapping):
                continue
            if rule.get("scope") != "Namespaced":
                note = "also intercepts cluster-scoped objects: no `scope: Namespaced`"
                yield Breach("SK220", ("webhooks", i, "rules", j, "scope"), rule.get("scope", "*"), note)
            for k, resource in enumerate(rule.get("resources") or ()):
                if resource not in _INTERCEPTABLE:
                    note = f"intercepts {resource}, which may grant permissions or hold secrets"
                    place = ("webhooks", i, "rules", j, "resources", k)
                    yield Breach("SK220", place, resource, note, expected=" | ".join(sorted(_INTERCEPTABLE)))
    if obj["kind"] == _WEBHOOKS[1] and obj.get("webhooks"):
        note = "may rewrite the app's pods to access their node"
        yield Breach("SK202", ("kind",), obj["kind"], note, NODE, _WEBHOOKS[0])
