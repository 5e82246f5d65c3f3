"""Label selectors and NetworkPolicies (networking.k8s.io/v1 semantics)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.label_selector import admits, parse_object

Labels = Mapping[str, str]
_LEADING_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")

#: The standard label with a namespace's name.
NAMESPACE_LABEL = "kubernetes.io/metadata.name"
#: The cluster's DNS server as a party.
DNS_NAMESPACE: Labels = {"kubernetes.io/metadata.name": "kube-system"}
DNS_LABELS: Labels = {"k8s-app": "kube-dns"}


class Party(NamedTuple):
    """One end of a connection. ``ports`` maps names of container ports to numbers."""

    labels: Labels
    namespace_labels: Labels
    ip: str = ""
    ports: Mapping[str, int] = {}


def matches(selector: Object | None, labels: Labels) -> bool:
    """Return whether a label selector matches; an empty one matches everything, None nothing."""
    return selector is not None and admits(parse_object(selector), labels)


def is_allowed(policies: Sequence[Object], source: Party, target: Party, port: int, protocol: str = "TCP") -> bool:
    """Return whether the policies allow a connection from ``source`` to ``port`` of ``target``.

    A policy applies to pods of its own namespace; one without a namespace applies to all.
    """
    return _allows_side(policies, "Egress", source, target, target, port, protocol) and _allows_side(
        policies, "Ingress", target, source, target, port, protocol
    )


def allows_egress(policies: Sequence[Object], source: Party, target: Party, port: int, protocol: str) -> bool:
    """Return whether the egress policies of ``source`` allow a connection; for targets outside of the namespaces."""
    return _allows_side(policies, "Egress", source, target, target, port, protocol)


def _allows_side(
    policies: Sequence[Object], direction: str, subject: Party, peer: Party, target: Party, port: int, protocol: str
) -> bool:
    selecting = [
        p["spec"]
        for p in policies
        if _is_at_home(p, subject)
        and _applies(p["spec"], direction)
        and matches(p["spec"].get("podSelector") or {}, subject.labels)
    ]
    if not selecting:
        return True
    field, peers = ("egress", "to") if direction == "Egress" else ("ingress", "from")
    return any(
        _match_peers(rule.get(peers), peer, subject) and _match_ports(rule.get("ports"), target, port, protocol)
        for spec in selecting
        for rule in spec.get(field) or ()
    )


def _is_at_home(policy: Object, subject: Party) -> bool:
    own = subject.namespace_labels.get(NAMESPACE_LABEL)
    return (policy.get("metadata") or {}).get("namespace", own) == own


def _applies(spec: Object, direction: str) -> bool:
    types = spec.get("policyTypes")
    if types:
        return direction in types
    return direction == "Ingress" or bool(spec.get("egress"))


def _match_peers(peers: Sequence[Object] | None, peer: Party, subject: Party) -> bool:
    return not peers or any(_match_peer(p, peer, subject) for p in peers)


def _match_peer(rule: Object, peer: Party, subject: Party) -> bool:
    if block := rule.get("ipBlock"):
        return is_inside(peer.ip, (block["cidr"],)) and not is_inside(peer.ip, tuple(block.get("except") or ()))
    if "namespaceSelector" in rule:
        if not matches(rule["namespaceSelector"] or {}, peer.namespace_labels):
            return False
    elif peer.namespace_labels != subject.namespace_labels:
        return False
    return "podSelector" not in rule or matches(rule["podSelector"] or {}, peer.labels)


def _match_ports(ports: Sequence[Object] | None, target: Party, port: int, protocol: str) -> bool:
    return not ports or any(_match_port(p, target, port, protocol) for p in ports)


def _match_port(rule: Object, target: Party, port: int, protocol: str) -> bool:
    if rule.get("protocol", "TCP") != protocol:
        return False
    desired = rule.get("port")
    if desired is None:
        return True
    if isinstance(desired, str):
        return target.ports.get(desired) == port
    return int(desired) <= port <= int(rule.get("endPort") or desired)


def is_inside(ip: str, blocks: Sequence[str]) -> bool:
    """Return whether an address is in one of the CIDR blocks; a bare address is a block of one."""
    if not ip:
        return False
    address = ip_address(strip_zeros(ip))
    return any(address in ip_network(strip_zeros(block), strict=False) for block in blocks)


def strip_zeros(text: str) -> str:
    """Return an address or block without leading zeros: the API server reads ``010.0.0.1`` as ``10.0.0.1``."""
    return _LEADING_ZEROS.sub("", text) if ":" not in text else text
