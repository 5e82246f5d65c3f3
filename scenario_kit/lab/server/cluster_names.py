"""Cluster DNS for a program of the platform: Services and their pods, no external names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from scenario_kit.lab.control_plane import cluster_dns
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.twin.cluster.dns import DOMAIN, list_attempts
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.base import Object

_ZONE: Final = ".".join(("", *DOMAIN[1:], ""))
_OWN: Final = frozenset({*DOMAIN, "pod", "internal", "localhost"})
_POD: Final = re.compile(r"\d{1,3}(?:-\d{1,3}){3}")
_CHAIN: Final = 5
#: A name outside of the cluster.
_BEYOND: Final = "beyond"
_Outcome = ConnectionOutcome | Literal["beyond"] | None


class NameLookup(NamedTuple):
    """The IPv4 addresses of a name, or the error of Go's resolver.

    ``beyond`` is true for an external name, which the lab cannot resolve.
    """

    addresses: tuple[str, ...] = ()
    problem: str = ""
    beyond: bool = False


class ClusterNames:
    """Resolve names like a pod with the cluster's DNS server."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def resolve(self, host: str, home: str) -> NameLookup:
        """Resolve a name from a pod in the namespace ``home``: with the search domains first, then as given."""
        for name in list_attempts(host.lower(), home):
            outcome, addresses = self._ask(name, 0)
            if addresses:
                return NameLookup(addresses)
            if outcome == _BEYOND:
                return NameLookup(problem=f"lookup {host}: a name outside of the cluster", beyond=True)
            if outcome not in (None, ConnectionOutcome.NXDOMAIN):
                return NameLookup(problem=f"lookup {host} on {cluster_dns.ADDRESS}:53: server misbehaving")
        return NameLookup(problem=f"lookup {host} on {cluster_dns.ADDRESS}:53: no such host")

    def _ask(self, name: str, depth: int) -> tuple[_Outcome, tuple[str, ...]]:
        """Return outcome and addresses of a fully qualified name."""
        server = cluster_dns.find_dns(self._store.view(cluster_dns.NAMESPACE)[0])
        outcome, address = server.answer(name) if server is not None else (None, "")
        if outcome or address:
            return outcome, (address,) if address else ()
        if not name.endswith(_ZONE):
            return _BEYOND if self._is_external(name) else ConnectionOutcome.NXDOMAIN, ()
        *labels, kind = name.removesuffix(_ZONE).split(".")
        if kind == "pod" and len(labels) == 2:
            return None, (labels[0].replace("-", "."),) if _POD.fullmatch(labels[0]) else ()
        if kind != DOMAIN[0] or len(labels) not in (2, 3):
            return ConnectionOutcome.NXDOMAIN, ()
        return self._service(labels[:-2], labels[-2], labels[-1], depth)

    def _is_external(self, name: str) -> bool:
        """Return whether a name ends like an external one, instead of a namespace or a label of cluster names."""
        _, dot, last = name.rstrip(".").rpartition(".")
        return bool(dot) and last.isalpha() and last not in _OWN and last not in self._store.namespaces()

    def _service(self, hosts: list[str], name: str, namespace: str, depth: int) -> tuple[_Outcome, tuple[str, ...]]:
        service = self._store.get(namespace, "Service", name)
        if service is None:
            return ConnectionOutcome.NXDOMAIN, ()
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            target = str(spec.get("externalName") or "").rstrip(".").lower()
            return self._ask(f"{target}.", depth + 1) if target and depth < _CHAIN else (ConnectionOutcome.SERVFAIL, ())
        ip = str(spec.get("clusterIP") or "")
        if ip != "None":
            return (None, (ip,)) if ip and not hosts else (ConnectionOutcome.NXDOMAIN, ())
        found = tuple(sorted(set(self._endpoints(service, hosts))))
        return (None, found) if found else (ConnectionOutcome.NXDOMAIN, ())

    def _endpoints(self, service: Object, hosts: list[str]) -> Iterator[str]:
        metadata, desired = service["metadata"], hosts[0] if hosts else ""
        unready = bool(service["spec"].get("publishNotReadyAddresses"))
        for item in self._store.names(metadata["namespace"], "EndpointSlice").values():
            labels = item["metadata"].get("labels") or {}
            if labels.get("kubernetes.io/service-name") != metadata["name"] or item.get("addressType") != "IPv4":
                continue
            for endpoint in item.get("endpoints") or ():
                ready = unready or (endpoint.get("conditions") or {}).get("ready") is not False
                if ready and (not desired or endpoint.get("hostname") == desired):
                    yield from map(str, endpoint.get("addresses") or ())
