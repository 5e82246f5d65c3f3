"""Objects of a small cluster, and the network that follows from them: what tests of packets begin with."""

from collections import defaultdict
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from scenario_kit.lab.twin import ClusterDns, View
from scenario_kit.lab.twin.network.endpoints import Network
from scenario_kit.model import ContainerEffect, Ledger, NetworkEffect

HOME = "shop"


def pod(name: str, ip: str, node: str = "n1", namespace: str = HOME, since: str = "", **spec: Any) -> dict[str, Any]:
    """Build a pod whose UID and ``app`` label are its name; ``ports`` are its container's."""
    container = {"name": "main", "ports": spec.pop("ports", [])}
    return {
        "kind": "Pod",
        "metadata": {
            "name": name, "namespace": namespace, "uid": name, "labels": {"app": name},
        },
        "spec": {"nodeName": node, "containers": [container], **spec},
        "status": {"podIP": ip, "startTime": since},
    }  # fmt: skip


def service(name: str, ip: str | None, *ports: dict[str, Any], namespace: str = HOME, **spec: Any) -> dict[str, Any]:
    """A Service with these ports."""
    metadata = {"name": name, "namespace": namespace}
    return {"kind": "Service", "metadata": metadata, "spec": {"clusterIP": ip, "ports": list(ports), **spec}}


def endpoint(address: str, ready: bool | None = True, node: str = "n1", **conditions: bool) -> dict[str, Any]:
    """Build one endpoint; ``ready`` None leaves the condition out."""
    known = {} if ready is None else {"ready": ready}
    return {"addresses": [address], "nodeName": node, "conditions": known | conditions}


def endpoints(
    of: str, *found: dict[str, Any], namespace: str = HOME, suffix: str = "", family: str = "IPv4", **ports: int
) -> dict[str, Any]:
    """An EndpointSlice of a Service; ``ports`` are numbers by the names of the Service's ports, ``_`` for no name."""
    return {
        "kind": "EndpointSlice",
        "addressType": family,
        "metadata": {
            "name": of + suffix, "namespace": namespace, "labels": {"kubernetes.io/service-name": of},
        },
        "ports": [{"name": "" if name == "_" else name, "port": number} for name, number in ports.items()],
        "endpoints": list(found),
    }  # fmt: skip


def policy(name: str, selected: str | None = None, namespace: str = HOME, **spec: Any) -> dict[str, Any]:
    """A NetworkPolicy for the pods of one app, or for all of its namespace."""
    chosen = {"matchLabels": {"app": selected}} if selected else {}
    metadata = {"name": name, "namespace": namespace}
    return {"kind": "NetworkPolicy", "metadata": metadata, "spec": {"podSelector": chosen, **spec}}


def namespace_object(name: str, **labels: str) -> dict[str, Any]:
    """A Namespace with labels of its own."""
    return {"kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def network(
    *objects: dict[str, Any],
    effects: tuple[NetworkEffect, ...] = (),
    containers: tuple[ContainerEffect, ...] = (),
    dns: ClusterDns | None = None,
    processes: tuple[Any, ...] = (),
    programs: Mapping[str, str] = {},
) -> Network:
    """The network of a view with these objects; ``processes`` have an address and a ``listener`` method.

    ``programs`` are what components run, by name.
    """
    homes: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for obj in objects:
        name = obj["metadata"]["name"]
        home = name if obj["kind"] == "Namespace" else obj["metadata"].get("namespace", HOME)
        homes[home][obj["kind"]][name] = obj
    own = homes.pop(HOME, {})
    by_ip: dict[str, list[Any]] = {}
    for process in processes:
        by_ip.setdefault(process.ip, []).append(process)
    view = View(HOME, own, Ledger(network=effects, containers=containers), 1, homes, dns)
    return Network(view, SimpleNamespace(by_ip=by_ip, program=lambda name: programs.get(name, "")))  # type: ignore[arg-type]
