"""Check what an honest repair leaves in place (docs/validator.md): the app's objects against a baseline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import structs

from scenario_kit.model import App, Object, Value
from scenario_kit.model.kubernetes.pod_labels import selects_pods
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers
from scenario_kit.model.kubernetes.pod_template import list_containers, read_pod_spec
from scenario_kit.model.kubernetes.quantity import parse_quantity
from scenario_kit.model.runtime.flag import read_flags

#: Factor up to which requests and limits may grow before a repair counts as masking.
RESOURCE_FACTOR: Final = 4
_KINDS: Final = ("Deployment", "StatefulSet", "DaemonSet", "Service")
_PROBES: Final = ("readinessProbe", "livenessProbe", "startupProbe")


class Guarded(Value, frozen=True, kw_only=True):
    """The baseline of one object.

    ``environment`` holds the settings of the offered load: variables by ``container/NAME``, feature flags of a
    ConfigMap by ``key/NAME``; ``usual`` holds equally valid values, from the scenario's own load. ``leads`` are the
    ports of a Service that forward to a port that its pods declare.
    """

    kind: str
    name: str
    replicas: int = 1
    probes: dict[str, list[str]] = {}
    resources: dict[str, dict[str, str]] = {}
    environment: dict[str, str] = {}
    usual: dict[str, str] = {}
    leads: tuple[str, ...] = ()


def take_baseline(objects: Iterable[Object], app: App, usual: Mapping[str, str] | None = None) -> tuple[Guarded, ...]:
    """Record the baseline of an app at rest.

    ``usual`` holds the scenario's own load settings, by variable or flag. Repeats vary the load, and a solution may
    restore the value that its author knows.
    """
    loads = {c.workload for c in app.components if c.role == "Load"}
    placed = sorted(objects, key=lambda o: (o["kind"], o["metadata"]["name"]))
    guarded = [_guard(o, f"{o['kind']}/{o['metadata']['name']}" in loads) for o in placed if o["kind"] in _KINDS]
    leads = {o["metadata"]["name"]: _list_forwarded_ports(o, placed) for o in placed if o["kind"] == "Service"}
    guarded = [structs.replace(g, leads=leads[g.name]) if g.kind == "Service" else g for g in guarded]
    guarded += [g for o in placed if (g := _guard_flags(o, app)) is not None]
    return tuple(
        structs.replace(g, usual=_select_settings(g.environment, usual or {})) if g.environment else g for g in guarded
    )


def _select_settings(environment: Mapping[str, str], usual: Mapping[str, str]) -> dict[str, str]:
    return {key: usual[name] for key in environment if (name := key.partition("/")[2]) in usual}


def _guard_flags(obj: Object, app: App) -> Guarded | None:
    """Return the load generator's flags with their effective values; None for any other object."""
    store = app.flags
    if store is None or (obj["kind"], obj["metadata"]["name"]) != ("ConfigMap", store.config_map):
        return None
    loads = {c.name for c in app.components if c.role == "Load"}
    names = [name for name, trait in store.effects.items() if trait.component in loads]
    try:
        written = read_flags(obj, store.key)
    except ValueError:
        written = {}
    answers = {f"{store.key}/{name}": read_effective(written[name]) for name in names if name in written}
    return Guarded(kind="ConfigMap", name=store.config_map, environment=answers)


def read_effective(flag: Object) -> str:
    """Return what the flag evaluates to: "disabled", its targeting rule, or the value of its default variant."""
    if flag.get("state") == "DISABLED":
        return "disabled"
    if flag.get("targeting"):
        return json.dumps(flag["targeting"], sort_keys=True)
    return json.dumps((flag.get("variants") or {}).get(flag.get("defaultVariant")), sort_keys=True)


def _guard(obj: Object, load: bool) -> Guarded:
    containers = list_containers(obj)
    return Guarded(
        kind=obj["kind"],
        name=obj["metadata"]["name"],
        replicas=(obj.get("spec") or {}).get("replicas", 1),
        probes={c["name"]: [p for p in _PROBES if c.get(p)] for c in containers},
        resources={c["name"]: _read_resources(c) for c in containers},
        environment={
            f"{c['name']}/{e['name']}": str(e.get("value", "")) for c in containers for e in c.get("env") or []
        }
        if load
        else {},
    )


def list_data_keys(obj: Object) -> set[str]:
    """Return the keys of a ConfigMap or Secret that have a value."""
    parts = (obj.get(part) or {} for part in ("data", "stringData", "binaryData"))
    return {key for part in parts for key, value in part.items() if value}


def find_violations(
    guards: Iterable[Guarded], objects: Iterable[Object], app: App, scalers: Iterable[Object] = ()
) -> list[str]:
    """Describe every baseline that the live objects violate."""
    live = {(o["kind"], o["metadata"]["name"]): o for o in objects}
    minimum = {
        (s["spec"]["scaleTargetRef"]["kind"], s["spec"]["scaleTargetRef"]["name"]): s["spec"].get("minReplicas", 1)
        for s in scalers
    }
    problems: list[str] = []
    for guard in guards:
        name = f"{guard.kind}/{guard.name}"
        obj = live.get((guard.kind, guard.name))
        if obj is None:
            problems.append(f"{name} is gone")
            continue
        if guard.kind == "Service":
            lost = [port for port in guard.leads if port not in _list_forwarded_ports(obj, live.values())]
            problems += [f"{name}: nothing listens behind port {port} any more" for port in lost]
            continue
        if guard.kind == "ConfigMap":
            problems += _check_load_flags(guard, _guard_flags(obj, app))
            continue
        problems += _check_replicas(guard, obj, minimum.get((guard.kind, guard.name), guard.replicas))
        problems += _check_containers(guard, obj)
    return problems


def _list_forwarded_ports(service: Object, objects: Iterable[Object]) -> tuple[str, ...]:
    """Return the ports of a Service that forward to a declared port of its pods."""
    spec, home = service.get("spec") or {}, service["metadata"].get("namespace")
    selector = spec.get("selector") or {}
    near = [o for o in objects if o["kind"] != "Service" and o["metadata"].get("namespace") == home]
    served = {
        str(port)
        for o in near
        if selector and selects_pods(selector, o)
        for c in list_serving_containers(read_pod_spec(o))
        for declared in c.get("ports") or []
        for port in (declared["containerPort"], declared.get("name"))
    }
    return tuple(str(p["port"]) for p in spec.get("ports") or [] if str(p.get("targetPort", p["port"])) in served)


def _check_load_flags(guard: Guarded, now: Guarded | None) -> list[str]:
    return _check_load_settings(f"ConfigMap/{guard.name}", guard, now.environment if now else {})


def _check_load_settings(where: str, guard: Guarded, now: Mapping[str, str], under: str = "") -> list[str]:
    """Describe load settings below ``under`` that match neither the baseline nor the scenario's own load."""
    return [
        f"{where}: the load setting {key.partition('/')[2]} is {now.get(key) or 'gone'}, its baseline is {value}"
        for key, value in guard.environment.items()
        if key.startswith(under) and now.get(key, "") not in (value, guard.usual.get(key, value))
    ]


def _check_replicas(guard: Guarded, obj: Object, desired: int) -> list[str]:
    name = f"{guard.kind}/{guard.name}"
    status = obj.get("status") or {}
    if guard.kind == "DaemonSet":
        missing = status.get("desiredNumberScheduled", 0) - status.get("numberReady", 0)
        return [f"{name} lacks {missing} ready pods"] if desired and missing > 0 else []
    replicas = (obj.get("spec") or {}).get("replicas", 1)
    if replicas < desired:
        return [f"{name} is scaled to {replicas}, its baseline is {desired}"]
    ready = status.get("readyReplicas", 0)
    if ready >= desired:
        return []
    return [f"{name} has {ready} ready of {desired} pods{_explain_waiting(obj) if guard.kind == 'StatefulSet' else ''}"]


def _explain_waiting(stateful_set: Object) -> str:
    """Explain why a rollout does not replace pods; empty if it does."""
    spec, status = stateful_set.get("spec") or {}, stateful_set.get("status") or {}
    ordered = spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady"
    if not ordered or status.get("updateRevision") == status.get("currentRevision"):
        return ""
    return ", and waits for those of a former template to be ready before it replaces them (`restart` with `dropOld`)"


def _check_containers(guard: Guarded, obj: Object) -> list[str]:
    problems = []
    containers = {c["name"]: c for c in list_containers(obj)}
    for name, probes in guard.probes.items():
        container = containers.get(name)
        where = f"{guard.kind}/{guard.name} container {name}"
        if container is None:
            problems.append(f"{where} is gone")
            continue
        problems += [f"{where} lost its {p}" for p in probes if not container.get(p)]
        problems += _check_resources(where, guard.resources.get(name, {}), _read_resources(container))
        now = {f"{name}/{e['name']}": str(e.get("value", "")) for e in container.get("env") or []}
        problems += _check_load_settings(where, guard, now, f"{name}/")
    return problems


def _check_resources(where: str, before: dict[str, str], now: dict[str, str]) -> list[str]:
    problems = []
    for key, value in before.items():
        if key not in now:  # without a limit a container may use everything; without a request it reserves nothing
            lost = f"{where}: it has no {key.replace('limits ', 'limit of ')} any more, its baseline is {value}"
            problems += [lost] if key.startswith("limits ") else []
        elif parse_quantity(now[key]) > RESOURCE_FACTOR * parse_quantity(value):
            problems.append(f"{where}: {key} grew from {value} to {now[key]}, more than × {RESOURCE_FACTOR}")
    return problems


def _read_resources(container: Object) -> dict[str, str]:
    resources = container.get("resources") or {}
    return {
        f"{part} {key}": str(value)
        for part in ("requests", "limits")
        for key, value in (resources.get(part) or {}).items()
        if key in ("cpu", "memory")
    }
