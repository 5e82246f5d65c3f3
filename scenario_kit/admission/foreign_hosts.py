"""Hosts named in pods and files: only the app's, or unassigned ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Any, Final

from scenario_kit.admission.bounds import AdmissionBounds
from scenario_kit.admission.breach import Breach
from scenario_kit.admission.hosts import LOOPBACK, NOWHERE, PRIVATE, find_arguments, is_within, parse_registry
from scenario_kit.admission.pods import find_pod_specs, list_actions, list_containers
from scenario_kit.admission.program_texts import ReadText, find_sources, list_inputs, list_texts
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.ip_address import is_ip_address

#: Domains that never resolve (RFC 2606).
_UNRESOLVED: Final = ("invalid", "test", "example", "localhost", "example.com", "example.net", "example.org")
#: The API server, which every pod knows already; its accounts decide what a pod may do there.
_API_SERVER: Final = ("kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
#: Address of cloud metadata services within a private network.
_METADATA: Final = (ip_network("fd00:ec2::254/128"),)
_EXPECTED: Final = "a Service of the app, a name below .invalid, or an address for documentation, such as 192.0.2.1"
_REGISTRY: Final = "a registry of the app's images, a public one such as docker.io, or a name below .invalid"


def check_hosts(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check the hosts that an object of a change names; the app itself is reviewed as a whole."""
    if bounds.of_app:
        return
    if not obj["metadata"].get("namespace"):
        obj = {**obj, "metadata": {**obj["metadata"], "namespace": bounds.namespace}}
    state = [*(o for o in bounds.state or bounds.objects if not _is_same(o, obj)), obj]
    for read in list_texts(obj, state):
        yield from _check_text(read, bounds)
    if obj["kind"] in ("ConfigMap", "Secret"):
        yield from _check_readers(obj, state, bounds)
    for keys, spec in find_pod_specs(obj):
        for i, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
            if not is_within(server, (*NOWHERE, *LOOPBACK, *PRIVATE)):
                note = f"uses the name server {server}, which is outside the cluster"
                yield Breach("SK237", (*keys, "dnsConfig", "nameservers", i), server, note, expected=_EXPECTED)
        for i, domain in enumerate((spec.get("dnsConfig") or {}).get("searches") or ()):
            if not _is_own_domain(str(domain), bounds):
                note = f"looks names up in '{domain}', which is not a domain of the app"
                place = (*keys, "dnsConfig", "searches", i)
                yield Breach("SK237", place, domain, note, expected="<namespace of the app>.svc.cluster.local")
        yield from _check_probes(spec, keys)
        for place, container in list_containers(spec, keys):
            registry = parse_registry(str(container.get("image") or ""))
            if registry not in bounds.registries and not is_own_host(registry, bounds):
                note = f"pulls an image from '{registry}', which is no registry of the app, nor a public one"
                yield Breach("SK237", (*place, "image"), container["image"], note, expected=_REGISTRY)


def _is_same(one: Object, other: Object) -> bool:
    return bool(one["kind"] == other["kind"] and one["metadata"]["name"] == other["metadata"]["name"])


def _check_readers(obj: Object, state: Sequence[Object], bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check what the variables of all pods show of a ConfigMap or a Secret."""
    name = (obj["kind"], obj["metadata"]["name"])
    for reader in (other for other in state if name in find_sources(other)):
        for read in list_inputs(reader, state):
            if name in read.sources:
                yield from _check_text(read._replace(keys=("data",)), bounds)


def check_command(words: Sequence[str], bounds: AdmissionBounds) -> Iterator[Breach]:
    """Check the hosts that a command of a store's client names."""
    for i, word in enumerate(words):
        yield from _check_text(ReadText(("command", i), word), bounds)
    for host in find_arguments(" ".join(words)):
        yield from _check_text(ReadText(("command",), host, address=True), bounds)


def _check_text(read: ReadText, bounds: AdmissionBounds) -> Iterator[Breach]:
    for host in read.hosts:
        if not is_own_host(host, bounds) and host not in bounds.hosts:
            yield Breach("SK237", read.keys, host, f"names host '{host}', which is not the app's", expected=_EXPECTED)


def _check_probes(spec: Mapping[str, Any], keys: Place) -> Iterator[Breach]:
    """Check hosts of probes and hooks, which the kubelet calls from the node (Pod Security `baseline`, 1.34)."""
    actions = (action for place, container in list_containers(spec, keys) for action in list_actions(container, place))
    for place, action in actions:
        for way in ("httpGet", "tcpSocket"):
            host = (action.get(way) or {}).get("host")
            if host and not is_within(host, (*NOWHERE, *LOOPBACK)) and str(host) != "localhost":
                note = f"makes the node call '{host}' instead of the pod"
                yield Breach("SK237", (*place, way, "host"), host, note, expected=f"no `{way}.host`: the pod itself")


def is_own_host(host: str, bounds: AdmissionBounds) -> bool:
    """Return whether a host is a Service of the app, the API server, an unassigned name, or a private address."""
    if not is_ip_address(host):
        return host in _API_SERVER or is_own_name(host, bounds)
    return is_within(host, (*NOWHERE, *LOOPBACK, *PRIVATE)) and not is_within(host, _METADATA)


def _is_own_domain(domain: str, bounds: AdmissionBounds) -> bool:
    """Return whether a search domain holds only names of the app, of the cluster, or such as never resolve."""
    domain = domain.rstrip(".").lower()
    own = {f"{name}.svc.cluster.local" for name in bounds.namespaces}
    return domain in {"", "svc.cluster.local", "cluster.local", *own} or is_own_name(domain, bounds)


def is_own_name(name: str, bounds: AdmissionBounds) -> bool:
    """Return whether a dotted name is one of the app's Services or pods, or in a domain that never resolves."""
    name = name.rstrip(".").lower()
    if any(f".{name}".endswith(f".{domain}") for domain in _UNRESOLVED):
        return True
    labels = name.split(".")
    if labels[-2:] == ["cluster", "local"]:
        labels = labels[:-2]
    if labels[-1:] == ["svc"]:
        labels = labels[:-1]
    return len(labels) in (2, 3) and labels[-1] in bounds.namespaces
