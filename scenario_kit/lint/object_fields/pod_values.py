"""Judge the values in the spec of a pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scenario_kit.lint.object_fields.mistake import FieldMistake, format_field
from scenario_kit.lint.object_fields.value_syntax import (
    DNS_LABEL,
    HIGHEST_PORT,
    find_wrong_labels,
    is_dns_label,
    is_port,
    is_variable,
    report,
)
from scenario_kit.lint.object_fields.volume_values import find_wrong_mounts, find_wrong_paths
from scenario_kit.model.json_document import Place, list_mappings
from scenario_kit.model.kubernetes.ip_address import is_ip_address
from scenario_kit.model.kubernetes.quantity import parse_exact

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS: Final = ("exec", "grpc", "httpGet", "tcpSocket")
_TIMES: Final = (
    "failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds",
)  # fmt: skip
#: Resources of which a container may use more than it requests.
_BURSTABLE: Final = ("cpu", "memory", "ephemeral-storage")
_MOST_NAMESERVERS: Final = 3
_A_PORT: Final = f"a port from 1 to {HIGHEST_PORT}"


def find_wrong_pod_values(spec: Mapping[str, Any], claims: Sequence[str], place: Place) -> Iterator[FieldMistake]:
    """Yield the values in a pod's spec that the API server refuses; ``claims`` are volumes from claim templates."""
    yield from find_wrong_labels(spec.get("nodeSelector"), (*place, "nodeSelector"))
    yield from _find_wrong_dns(spec, place)
    yield from _find_wrong_tolerations(spec, place)
    volumes = _list_names(spec, "volumes", place)
    yield from _find_repeated(volumes, (*place, "volumes"), "a volume")
    for name, where in volumes:
        if not is_dns_label(name):
            yield report((*where, "name"), f"is '{name}', which is no DNS label", name, DNS_LABEL)
    known = {name for name, _ in volumes} | set(claims)
    containers = [*_list_names(spec, "initContainers", place), *_list_names(spec, "containers", place)]
    yield from _find_repeated(containers, (*place, "containers"), "a container")
    yield from find_wrong_paths(spec, place)
    for kind in ("initContainers", "containers"):
        for i, container in list_mappings(spec.get(kind)):
            yield from _judge_container(container, known, (*place, kind, i))
            if kind == "initContainers":
                yield from _judge_start(container, (*place, kind, i))
    if spec.get("ephemeralContainers"):
        must = "are for pods that run: the API server takes them neither in a template nor in a new pod"
        names = ", ".join(name for name, _ in _list_names(spec, "ephemeralContainers", place))
        yield report((*place, "ephemeralContainers"), must, names, "containers", "write it under `containers`")


def _list_names(spec: Mapping[str, Any], kind: str, place: Place) -> list[tuple[str, Place]]:
    return [(str(item.get("name")), (*place, kind, i)) for i, item in list_mappings(spec.get(kind))]


def _find_repeated(names: Sequence[tuple[str, Place]], place: Place, what: str) -> Iterator[FieldMistake]:
    found = [name for name, _ in names]
    for name in sorted({name for name in found if found.count(name) > 1}):
        yield report(place, f"has {what} '{name}' more than once", name, "another name for each")


def _find_wrong_dns(spec: Mapping[str, Any], place: Place) -> Iterator[FieldMistake]:
    config = spec.get("dnsConfig")
    servers = (config.get("nameservers") if isinstance(config, Mapping) else None) or ()
    where = (*place, "dnsConfig", "nameservers")
    for i, server in enumerate(servers):
        if not is_ip_address(server):
            yield report((*where, i), f"is '{server}', which is no IP address", server, "an IPv4 or IPv6 address")
    if len(servers) > _MOST_NAMESERVERS:
        yield report(where, "has too many entries", len(servers), f"at most {_MOST_NAMESERVERS} name servers")
    if spec.get("dnsPolicy") == "None" and not servers:
        must = "lacks a name server, which the DNS policy None requires"
        yield report(where, must, "none", "one name server or more", "add one, or choose another `dnsPolicy`")


def _find_wrong_tolerations(spec: Mapping[str, Any], place: Place) -> Iterator[FieldMistake]:
    for i, toleration in list_mappings(spec.get("tolerations")):
        where = (*place, "tolerations", i)
        exists = toleration.get("operator") == "Exists"
        if exists and toleration.get("value"):
            must = "is not compared by the operator Exists"
            yield report((*where, "value"), must, toleration["value"], "no value", "leave it out, or write Equal")
        if not toleration.get("key") and not exists:
            yield report(where, "has no key, which only the operator Exists allows", "no key", "`key`")


def _judge_container(container: Mapping[str, Any], volumes: set[str], place: Place) -> Iterator[FieldMistake]:
    name = container.get("name")
    if name is not None and not is_dns_label(name):
        yield report((*place, "name"), f"is '{name}', which is no DNS label", name, DNS_LABEL)
    image = container.get("image")
    if isinstance(image, str) and image != image.strip():
        yield report((*place, "image"), "begins or ends with a space", f"'{image}'", f"'{image.strip()}'")
    for i, port in list_mappings(container.get("ports")):
        for field in ("containerPort", "hostPort"):
            value = port.get(field)
            if value is not None and not is_port(value, named=False) and (field, value) != ("hostPort", 0):
                yield report((*place, "ports", i, field), f"is {value}, which is no port", value, _A_PORT)
    for i, variable in list_mappings(container.get("env")):
        if "name" in variable and not is_variable(variable["name"]):
            must = f"is '{variable['name']}', which no environment variable can be called"
            yield report((*place, "env", i, "name"), must, variable["name"], "printable ASCII letters without '='")
    yield from find_wrong_mounts(container, volumes, place)
    yield from _judge_resources(container, place)
    for kind in _PROBES:
        if isinstance(probe := container.get(kind), Mapping):
            yield from _judge_probe(probe, kind, (*place, kind))


def _judge_start(container: Mapping[str, Any], place: Place) -> Iterator[FieldMistake]:
    if container.get("restartPolicy") == "Always":  # a sidecar, which runs beside the others
        return
    for field in ("lifecycle", *_PROBES):
        if container.get(field):
            must = "is for containers that keep running, and this one ends before the others start"
            yield report((*place, field), must, field, "no such field", "leave it out, or set `restartPolicy: Always`")


def _judge_resources(container: Mapping[str, Any], place: Place) -> Iterator[FieldMistake]:
    resources = container.get("resources")
    if not isinstance(resources, Mapping):
        return
    amounts = {kind: _read_amounts(resources.get(kind)) for kind in ("limits", "requests")}
    for kind, known in amounts.items():
        for name, amount in known.items():
            if amount < 0:
                written = resources[kind][name]
                yield report((*place, "resources", kind, name), f"is {written}, less than 0", written, "0 or more")
    for name in _BURSTABLE:
        limit, request = amounts["limits"].get(name), amounts["requests"].get(name)
        if limit is not None and request is not None and request > limit:
            most, asked = resources["limits"][name], resources["requests"][name]
            where = (*place, "resources", "requests", name)
            must = f"is {asked}, more than the limit of {most}"
            fix = f"change `{format_field((*where[:-2], 'limits', name))}` and the request together"
            yield report(where, must, asked, f"at most the limit, {most}", fix)


def _read_amounts(quantities: Any) -> dict[str, Any]:
    found = {}
    for name, quantity in quantities.items() if isinstance(quantities, Mapping) else ():
        try:
            found[name] = parse_exact(quantity)
        except (ValueError, ArithmeticError):
            continue  # a placeholder, or no quantity, which the judgement of types reports
    return found


def _judge_probe(probe: Mapping[str, Any], kind: str, place: Place) -> Iterator[FieldMistake]:
    used = [name for name in _HANDLERS if probe.get(name) is not None]
    if len(used) != 1:
        expected = "exactly one of " + ", ".join(_HANDLERS)
        observed = " and ".join(used) or "none"
        fix = f"set the others to null: {observed}" if used else f"add one of {', '.join(_HANDLERS)}"
        yield report(place, f"asks in {len(used)} ways", observed, expected, fix)
    for name in used:
        handler = probe[name]
        port = handler.get("port") if isinstance(handler, Mapping) else None
        if port is not None and not is_port(port, named=name != "grpc"):
            yield report((*place, name, "port"), f"is {port}, which is no port", port, f"{_A_PORT}, or its name")
    for name in _TIMES:
        value = probe.get(name)
        if isinstance(value, int) and value < 0:
            yield report((*place, name), f"is {value}, less than 0", value, "0 or more")
    successes = probe.get("successThreshold")
    if kind != "readinessProbe" and isinstance(successes, int) and successes > 1:
        must = f"is {successes}; a {kind.removesuffix('Probe')} probe succeeds at once"
        yield report((*place, "successThreshold"), must, successes, "1")
