"""EndpointSlices match the pods that a Service selects: addresses, readiness and ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from scenario_kit.lab.settle.checks.settle_context import LEFT_ALONE_SECONDS, Facts, Reason, is_condition_true
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers

_SERVICE = "kubernetes.io/service-name"
_MANAGER = "endpointslice.kubernetes.io/managed-by"
_CONTROLLER = "endpointslice-controller.k8s.io"
_WORDS = {True: "ready", False: "not ready"}


class _Endpoint(NamedTuple):
    address: str
    ready: bool
    ports: frozenset[tuple[str, int, str]]


def check_endpoint_slices(facts: Facts) -> Iterator[Reason]:
    """Yield Services whose slices are out of date."""
    slices: dict[str, list[Object]] = {}
    for obj in facts.of("EndpointSlice").values():
        labels = obj["metadata"].get("labels") or {}
        if labels.get(_MANAGER) == _CONTROLLER and obj.get("addressType") == "IPv4":
            slices.setdefault(labels.get(_SERVICE, ""), []).append(obj)
    for name, service in facts.of("Service").items():
        selector = service["spec"].get("selector")
        families = service["spec"].get("ipFamilies") or ["IPv4"]
        if not selector or service["spec"].get("type") == "ExternalName" or "IPv4" not in families:
            continue
        expected = Counter(_list_expected(service, facts.of("Pod").values(), selector))
        served = Counter(_list_served(slices.get(name, ())))
        if served == expected or _is_given_up(facts, service):
            continue
        yield Reason("Endpoints", "Service", name, _describe_difference(served, expected))


def _is_given_up(facts: Facts, service: Object) -> bool:
    """Return whether the controller is stuck on a Service because a label was removed from one of its slices.

    It no longer finds that slice by its labels, takes its own cache for stale, and retries forever (``StaleSlices`` in
    ``endpointslice/util``). The Service's endpoints do not change in the meantime.
    """
    uid, name = service["metadata"]["uid"], service["metadata"]["name"]
    for obj in facts.of("EndpointSlice").values():
        labels = obj["metadata"].get("labels") or {}
        owned = any(o.get("uid") == uid for o in obj["metadata"].get("ownerReferences") or ())
        lost = labels.get(_SERVICE) != name or labels.get(_MANAGER) != _CONTROLLER
        if owned and lost and facts.quiet(obj) >= LEFT_ALONE_SECONDS:
            return True
    return False


def _list_expected(service: Object, pods: object, selector: dict[str, str]) -> Iterator[_Endpoint]:
    publish = bool(service["spec"].get("publishNotReadyAddresses"))
    for pod in pods:  # type: ignore[attr-defined]
        labels = pod["metadata"].get("labels") or {}
        status = pod.get("status") or {}
        if any(labels.get(key) != value for key, value in selector.items()):
            continue
        if not status.get("podIP") or status.get("phase") in ("Succeeded", "Failed"):
            continue
        serving = is_condition_true(pod, "Ready")
        ready = publish or (serving and "deletionTimestamp" not in pod["metadata"])
        yield _Endpoint(status["podIP"], ready, frozenset(_list_ports(service, pod)))


def _list_ports(service: Object, pod: Object) -> Iterator[tuple[str, int, str]]:
    for port in service["spec"].get("ports") or ():
        protocol = port.get("protocol", "TCP")
        target = port.get("targetPort") or port["port"]
        number = target if isinstance(target, int) else _resolve_port_name(pod, target, protocol)
        if number:
            yield str(port.get("name", "")), number, protocol


def _resolve_port_name(pod: Object, name: str, protocol: str) -> int:
    for container in list_serving_containers(pod["spec"]):
        for port in container.get("ports") or ():
            if port.get("name") == name and port.get("protocol", "TCP") == protocol:
                return int(port["containerPort"])
    return 0


def _list_served(slices: object) -> Iterator[_Endpoint]:
    for obj in slices:  # type: ignore[attr-defined]
        ports = frozenset(
            (str(p.get("name") or ""), int(p.get("port") or 0), str(p.get("protocol", "TCP")))
            for p in obj.get("ports") or ()
        )
        for endpoint in obj.get("endpoints") or ():
            for address in endpoint["addresses"]:
                yield _Endpoint(address, bool((endpoint.get("conditions") or {}).get("ready")), ports)


def _describe_difference(served: Counter[_Endpoint], expected: Counter[_Endpoint]) -> str:
    def show(endpoints: Counter[_Endpoint]) -> str:
        words = sorted(f"{e.address} {_WORDS[e.ready]} {sorted(p[1] for p in e.ports)}" for e in endpoints)
        return "; ".join(words) or "none"

    return f"its endpoints are {show(served - expected)}, expected {show(expected - served)} (differences only)"
