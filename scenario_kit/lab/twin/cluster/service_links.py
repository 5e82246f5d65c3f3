"""Variables that name Services in the environment of containers (``envvars.FromServices`` of the kubelet)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.model.base import Object

#: The Service of the API server, which every container gets to know: the first address of the lab's range.
_API_SERVER: Final[Object] = {
    "metadata": {"name": "kubernetes"},
    "spec": {"clusterIP": "10.96.0.1", "ports": [{"name": "https", "port": 443, "protocol": "TCP"}]},
}


def list_service_links(view: View, pod: Object) -> dict[str, str]:
    """Return the variables of the Services that exist in the pod's namespace (``enableServiceLinks``) by now."""
    services: list[Object] = [_API_SERVER]
    if pod["spec"].get("enableServiceLinks", True):
        services += view.kind("Service").values()
    return dict(_name_services(services))


def _name_services(services: Iterable[Object]) -> Iterator[tuple[str, str]]:
    for service in services:
        address, ports = service["spec"].get("clusterIP", ""), service["spec"].get("ports") or ()
        if not ports or address in ("", "None"):  # headless, or an alias
            continue
        prefix = _make_variable_name(service["metadata"]["name"])
        yield f"{prefix}_SERVICE_HOST", address
        yield f"{prefix}_SERVICE_PORT", str(ports[0]["port"])
        for port in ports:
            if port.get("name"):
                yield f"{prefix}_SERVICE_PORT_{_make_variable_name(port['name'])}", str(port["port"])
        for number, port in enumerate(ports):
            protocol = port.get("protocol") or "TCP"
            url = f"{protocol.lower()}://{f'[{address}]' if ':' in address else address}:{port['port']}"
            if number == 0:
                yield f"{prefix}_PORT", url
            own = f"{prefix}_PORT_{port['port']}_{protocol}"
            yield own, url
            yield f"{own}_PROTO", protocol.lower()
            yield f"{own}_PORT", str(port["port"])
            yield f"{own}_ADDR", address


def _make_variable_name(name: str) -> str:
    return name.replace("-", "_").upper()
