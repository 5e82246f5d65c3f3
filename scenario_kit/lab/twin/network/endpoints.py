"""The pod network: names, Services, endpoints, policies, and network chaos.

All results depend on one view only, so they are computed once per view and cached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.lab.twin.cluster.dns import (
    collect_wrong_answers,
    draw_address,
    find_alias,
    list_readings,
    qualify_name,
)
from scenario_kit.lab.twin.cluster.network_policy import (
    DNS_LABELS,
    DNS_NAMESPACE,
    Party,
    allows_egress,
    is_allowed,
    strip_zeros,
)
from scenario_kit.lab.twin.network.http_chaos import HttpRule, list_rules
from scenario_kit.lab.twin.network.name_queries import QueryPath, find_path
from scenario_kit.lab.twin.network.packet_effects import CUT, PROBE_PACKET, TrafficShape, combine_effects, concerns
from scenario_kit.lab.twin.outcome import NO_ANSWER, ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import ContainerEffect, NetworkEffect
from scenario_kit.model.kubernetes.ip_address import is_ip_address
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers
from scenario_kit.model.kubernetes.status import rank_by_age


class Destination(NamedTuple):
    """The backend that packets are delivered to."""

    ip: str
    port: int


#: DNS outcomes without an answer; the name may exist.


class DialLookup(NamedTuple):
    """The result of resolving a host and port.

    ``outcome`` is ``ok``, ``refused`` (a Service without endpoints: kube-proxy rejects), ``noname`` (NXDOMAIN),
    ``unanswered`` (the DNS server does not respond), ``misanswered`` (SERVFAIL) or ``dropped`` (an address or Service
    port that does not exist, or a Service with node-local traffic policy and no endpoint on the node: packets are
    dropped).

    ``silent``: the queries get no answer, so that the resolver waits for one. ``sticky``: all connections of a pod go
    to the same backend (session affinity).
    """

    outcome: ConnectionOutcome
    destinations: tuple[Destination, ...] = ()
    ip: str = ""
    silent: bool = False
    sticky: bool = False

    @property
    def resolved(self) -> bool:
        """Whether the name resolved to an address, reachable or not."""
        return self.outcome != ConnectionOutcome.NXDOMAIN and self.outcome not in NO_ANSWER


class Wire(NamedTuple):
    """The path between two pods. ``cut``: no packets pass; a shape is None if packets are unaffected.

    ``rules`` are those of HTTP proxies at its ends.
    """

    cut: bool
    out: TrafficShape | None = None
    back: TrafficShape | None = None
    rules: tuple[HttpRule, ...] = ()

    @property
    def stalled(self) -> bool:
        """Whether no message gets through in one direction, though a connection may be opened."""
        return any(shape is not None and shape.loss >= 1.0 for shape in (self.out, self.back))


class Network:
    """The pod network of one view."""

    def __init__(self, view: View, process_table: ProcessTable) -> None:
        self._view = view
        self._process_table = process_table
        self._policies = sorted(view.list_all("NetworkPolicy"), key=lambda p: str(p["metadata"]["name"]))
        self._labels = {name: _read_namespace_labels(view.within(name)) for name in (view.namespace, *view.others)}
        self._slices: dict[tuple[str, str], list[Object]] = {}
        for item in view.list_all("EndpointSlice"):
            if item.get("addressType", "IPv4") != "IPv4":
                continue  # not the address family of the cluster and its Services
            service = (item["metadata"].get("labels") or {}).get("kubernetes.io/service-name", "")
            self._slices.setdefault((self.find_namespace(item), service), []).append(item)
        self._effects: dict[str, list[NetworkEffect]] = {}
        for effect in view.ledger.network:
            self._effects.setdefault(effect.pod_uid, []).append(effect)
        self._proxies: dict[str, list[ContainerEffect]] = {}
        for proxy in view.ledger.containers:
            if proxy.kind == "HTTP":
                self._proxies.setdefault(proxy.pod_uid, []).append(proxy)
        self._wrong = collect_wrong_answers(view.ledger.containers)
        self._wires: dict[tuple[str, str, int, str, Destination], Wire] = {}
        self._pods = {str((p.get("status") or {}).get("podIP") or ""): p for p in view.list_all("Pod")}

    def lookup(self, pod: Object, host: str, port: int, protocol: str = "TCP") -> DialLookup:
        """Resolve what a program in ``pod`` dials: the name, the Service, its ready backends."""
        if not host or not port:
            return DialLookup(ConnectionOutcome.NXDOMAIN)
        if is_ip_address(host):
            return self._address(pod, host, port, protocol)
        if host == "localhost":
            return DialLookup(ConnectionOutcome.OK, (Destination(_read_ip(pod), port),), "127.0.0.1")
        if known := find_alias(pod, host):
            return self._address(pod, known, port, protocol)
        if problem := self._no_answer(pod):
            return problem
        wrong = self._wrong.get(pod["metadata"]["uid"])
        if wrong is not None and wrong.misleads(host, self.find_namespace(pod)):
            return (
                DialLookup(ConnectionOutcome.CONNECTION_TIMEOUT, (), draw_address(host))
                if wrong.random
                else DialLookup(ConnectionOutcome.SERVFAIL)
            )
        if wrong is None and self._view.dns is not None:  # otherwise another DNS server is used
            outcome, address = self._view.dns.answer(qualify_name(host, self.find_namespace(pod)))
            if outcome or address:
                return DialLookup(outcome) if outcome else self._address(pod, address, port, protocol)
        return self._name(pod, host, port, protocol, depth=0)

    def wire(
        self,
        source: Process | Object,
        target: Object,
        port: int,
        protocol: str = "TCP",
        *,
        front: Destination | None = None,
    ) -> Wire:
        """Return the path between two pods for connections to ``port`` of the target.

        ``front`` is where the sender addresses its packets, unless that is the target itself: a Service.
        """
        pod = source.pod if isinstance(source, Process) else source
        if front is None or not front.ip or front.ip in self._pods:
            front = Destination(_read_ip(target), port)
        key = (pod["metadata"]["uid"], target["metadata"]["uid"], port, protocol, front)
        if key not in self._wires:
            self._wires[key] = self._compute(pod, target, port, protocol, front)
        return self._wires[key]

    def from_node(self, pod: Object) -> Wire:
        """Return the path between a pod and its node: chaos on all of the pod's traffic applies."""
        effects = [e for e in self._effects.get(pod["metadata"]["uid"], ()) if not e.peers]
        back = combine_effects((e for e in effects if e.direction == "OUTPUT"), PROBE_PACKET)
        if back is not None and back.loss >= 1.0:
            return Wire(cut=True)
        return Wire(any(e.direction == "INPUT" and e.drop for e in effects), None, back)

    def list_rules(self, pod: Object, port: int) -> tuple[HttpRule, ...]:
        """List the rules of a proxy in a pod for connections to this port, into the pod and out of it."""
        proxies = self._proxies.get(pod["metadata"]["uid"], ())
        return list_rules(pod, proxies, port) if proxies else ()

    def pod_at(self, ip: str) -> Object | None:
        """Return the pod with an address."""
        return self._pods.get(ip) if ip else None

    def listener(self, destination: Destination) -> Process | None:
        """Return the process that listens at a destination, started or starting."""
        return next(
            (p for p in self._process_table.by_ip.get(destination.ip, ()) if p.listener(destination.port)), None
        )

    def program(self, component: str) -> str:
        """Return a component's program; empty if no other component runs the same."""
        return self._process_table.program(component)

    def find_namespace(self, obj: Object) -> str:
        """Return an object's namespace."""
        return str(obj["metadata"].get("namespace", self._view.namespace))

    def _address(self, pod: Object, host: str, port: int, protocol: str) -> DialLookup:
        if host.startswith("127."):
            return DialLookup(ConnectionOutcome.OK, (Destination(_read_ip(pod), port),), host)
        if host in self._pods:
            return DialLookup(ConnectionOutcome.OK, (Destination(host, port),), host)
        for service in self._view.list_all("Service"):
            if service["spec"].get("clusterIP") == host:
                return self._service(pod, service, port, protocol)
        return DialLookup(ConnectionOutcome.CONNECTION_TIMEOUT, (), host)

    def find_query_path(self, pod: Object) -> QueryPath:
        """Return what chaos does to the DNS queries of a pod."""
        effects = self._effects.get(pod["metadata"]["uid"])
        return find_path(effects) if effects else QueryPath()

    def needs_query(self, pod: Object, host: str) -> bool:
        """Return whether a program in a pod asks the DNS server for a host."""
        return not (is_ip_address(host) or host == "localhost" or find_alias(pod, host))

    def _no_answer(self, pod: Object) -> DialLookup | None:
        """Return why no name of the cluster resolves from a pod; None if its DNS server responds."""
        policy = pod["spec"].get("dnsPolicy") or "ClusterFirst"
        if policy == "Default" or (policy == "ClusterFirst" and pod["spec"].get("hostNetwork")):
            return DialLookup(ConnectionOutcome.NXDOMAIN)  # the node's DNS server does not resolve cluster names
        if policy == "None":
            return DialLookup(ConnectionOutcome.DNS_TIMEOUT)
        server = Party(DNS_LABELS, DNS_NAMESPACE, "", {"dns": 53, "dns-tcp": 53})
        allowed = allows_egress(self._policies, self._party(pod), server, 53, "UDP")
        if allowed and self.find_query_path(pod).answered:
            return None
        return DialLookup(ConnectionOutcome.DNS_TIMEOUT, silent=True)

    def _name(self, pod: Object, host: str, port: int, protocol: str, depth: int) -> DialLookup:
        for hostname, name, namespace in list_readings(host, self.find_namespace(pod)) if depth <= 4 else ():
            service = self._view.within(namespace).kind("Service").get(name) if namespace in self._labels else None
            if service is None:
                continue
            if hostname:
                if found := self._backends(service, None, port, hostname=hostname) if _is_headless(service) else ():
                    return DialLookup(ConnectionOutcome.OK, found, found[0].ip)
                continue
            if service["spec"].get("type") == "ExternalName":
                return self._name(pod, str(service["spec"].get("externalName") or ""), port, protocol, depth + 1)
            return self._service(pod, service, port, protocol)
        return DialLookup(ConnectionOutcome.NXDOMAIN)

    def _service(self, pod: Object, service: Object, port: int, protocol: str) -> DialLookup:
        spec = service["spec"]
        ip = str(spec.get("clusterIP") or "")
        if _is_headless(service):
            found = self._backends(service, None, port)
            return (
                DialLookup(ConnectionOutcome.OK, found, found[0].ip)
                if found
                else DialLookup(ConnectionOutcome.NXDOMAIN)
            )
        entry = next(
            (p for p in spec.get("ports") or () if p["port"] == port and p.get("protocol", "TCP") == protocol), None
        )
        if entry is None:  # kube-proxy has no rule for it
            return DialLookup(ConnectionOutcome.CONNECTION_TIMEOUT, (), ip)
        everywhere = self._backends(service, entry.get("name") or "", 0)
        node = self._local(pod, spec)
        found = self._backends(service, entry.get("name") or "", 0, node) if node else everywhere
        if found:
            return DialLookup(ConnectionOutcome.OK, found, ip, sticky=spec.get("sessionAffinity") == "ClientIP")
        return DialLookup(
            ConnectionOutcome.CONNECTION_TIMEOUT if everywhere else ConnectionOutcome.CONNECTION_REFUSED, (), ip
        )

    @staticmethod
    def _local(pod: Object, spec: Object) -> str:
        return str(pod["spec"].get("nodeName") or "") if spec.get("internalTrafficPolicy") == "Local" else ""

    def _backends(
        self, service: Object, port_name: str | None, port: int, node: str = "", *, hostname: str = ""
    ) -> tuple[Destination, ...]:
        """Return the ready endpoints of a Service, or else the terminating ones that still serve.

        This is kube-proxy's behavior since 1.26 (KEP-1669); a headless Service has no proxy, only names of ready pods.
        With ``hostname``, only the endpoint of that name counts.
        """

        def is_ready(endpoint: Object) -> bool:
            named = not hostname or str(endpoint.get("hostname") or "").lower() == hostname
            return named and _is_ready(endpoint.get("conditions") or {})

        usual = self._select(service, port_name, port, node, is_ready)
        return usual or (() if port_name is None else self._select(service, port_name, port, node, _is_draining))

    def _select(
        self, service: Object, port_name: str | None, port: int, node: str, condition: Callable[[Object], bool]
    ) -> tuple[Destination, ...]:
        found = []
        for item in self._slices.get((self.find_namespace(service), service["metadata"]["name"]), ()):
            numbers = [
                p.get("port")
                for p in item.get("ports") or ()
                if port_name is not None and (p.get("name") or "") == port_name
            ]
            number = numbers[0] if numbers else (port if port_name is None else None)
            if number is None:
                continue
            for endpoint in item.get("endpoints") or ():
                if not condition(endpoint) or (node and endpoint.get("nodeName") != node):
                    continue
                addresses = map(strip_zeros, endpoint.get("addresses") or ())
                found += [Destination(address, int(number)) for address in addresses]
        return tuple(sorted(found, key=self._rank))

    def _rank(self, destination: Destination) -> tuple[str, ...]:
        """Rank backends by the age of their pods, so that the order is independent of names."""
        pod = self._pods.get(destination.ip)
        return rank_by_age(pod) if pod else ("", "", "", destination.ip)

    def _party(self, pod: Object) -> Party:
        ports = {
            p["name"]: int(p["containerPort"])
            for c in list_serving_containers(pod["spec"])
            for p in c.get("ports") or ()
            if p.get("name")
        }
        return Party(
            pod["metadata"].get("labels") or {}, self._labels.get(self.find_namespace(pod), {}), _read_ip(pod), ports
        )

    def _compute(self, source: Object, target: Object, port: int, protocol: str, front: Destination) -> Wire:
        if source["metadata"]["uid"] == target["metadata"]["uid"]:
            return Wire(cut=False)
        source_party, target_party = self._party(source), self._party(target)
        cut = bool(self._policies) and not is_allowed(self._policies, source_party, target_party, port, protocol)
        # The node translates the address of a Service: packets have it until they leave the sender's pod, and responses
        # again when they arrive there. The target sees the sender's own address.
        out = self._shape(source, target, front.ip, _read_ip(source))
        back = self._shape(target, source, _read_ip(source), front.ip)
        cut = cut or out is CUT or back is CUT
        met = self.list_rules(target, port) + self.list_rules(source, front.port)
        return Wire(cut, None if out is CUT else out, None if back is CUT else back, met)

    def _shape(self, sender: Object, receiver: Object, to: str, come_from: str) -> TrafficShape | None:
        """Combine the effects on messages in one direction; ``to`` is the receiver's address as known to the sender,
        and vice versa.
        """
        for effect in self._effects.get(receiver["metadata"]["uid"], ()):
            if effect.direction == "INPUT" and effect.drop and concerns(effect, come_from):
                return CUT
        sent = self._effects.get(sender["metadata"]["uid"], ())
        return combine_effects(e for e in sent if e.direction == "OUTPUT" and concerns(e, to))


def _is_ready(conditions: Object) -> bool:
    return conditions.get("ready") is not False


def _is_headless(service: Object) -> bool:
    return str(service["spec"].get("clusterIP") or "") == "None"


def _is_draining(endpoint: Object) -> bool:
    """Return whether an endpoint serves while its pod terminates; an unset `serving` defaults to `ready`."""
    conditions = endpoint.get("conditions") or {}
    serving = conditions.get("serving")
    return bool(conditions.get("terminating")) and bool(conditions.get("ready") if serving is None else serving)


def _read_ip(pod: Object) -> str:
    return str((pod.get("status") or {}).get("podIP") or "")


def _read_namespace_labels(view: View) -> Mapping[str, str]:
    own = view.kind("Namespace").get(view.namespace) or {}
    labels = (own.get("metadata") or {}).get("labels") or {}
    return {"kubernetes.io/metadata.name": view.namespace, **labels}
