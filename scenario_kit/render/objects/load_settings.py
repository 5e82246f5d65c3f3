"""Settings of the load generator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scenario_kit.model import App, Object, Reference
from scenario_kit.model.authored.app import LoadKnob
from scenario_kit.model.kubernetes.pod_template import list_containers
from scenario_kit.model.runtime.flag import read_flags
from scenario_kit.render.objects.lookup import look_up


def describe_load_settings(app: App, objects: Sequence[Object], namespace: str) -> dict[str, Any] | None:
    """Describe the settings of the app's load generator for templates; None if the app declares none.

    ``users`` and ``spawnRate`` (None if the app lacks it) each have ``env``, the overriding ``flag`` (may be empty),
    its current ``variant``, and ``present``, the current number or None if unknown.
    """
    if app.load is None:
        return None
    known = {"users": app.load.users, "spawnRate": app.load.spawn_rate}
    return {name: _describe_setting(knob, app, objects, namespace) if knob else None for name, knob in known.items()}


def read_settings(app: App, objects: Sequence[Object], namespace: str) -> dict[str, str]:
    """Read the current load settings, by feature flag or else environment variable."""
    known = (describe_load_settings(app, objects, namespace) or {}).values()
    return {k["flag"] or k["env"]: str(k["present"]) for k in known if k and k["present"] is not None}


def _describe_setting(knob: LoadKnob, app: App, objects: Sequence[Object], namespace: str) -> dict[str, Any]:
    variant, value = _read_flag(knob.flag, app, objects, namespace) if knob.flag else ("", None)
    if not knob.flag:
        value = next((v for c in _list_generators(app, objects, namespace) for v in _list_values(c, knob.env)), None)
    return {"env": knob.env, "flag": knob.flag, "variant": variant, "present": _parse_number(value)}


def _read_flag(flag: str, app: App, objects: Sequence[Object], namespace: str) -> tuple[str, Any]:
    found = look_up(objects, Reference("ConfigMap", app.flags.config_map), namespace) if app.flags else None
    if found is None or app.flags is None:
        return "", None
    entry = read_flags(found, app.flags.key).get(flag) or {}
    variant = str(entry.get("defaultVariant", ""))
    return variant, (entry.get("variants") or {}).get(variant)


def _list_generators(app: App, objects: Sequence[Object], namespace: str) -> Iterator[Object]:
    for component in app.components:
        if component.role == "Load":
            workload = look_up(objects, component.workload, namespace)
            yield from list_containers(workload) if workload is not None else []


def _list_values(container: Object, variable: str) -> Iterator[Any]:
    return (e["value"] for e in container.get("env") or [] if e["name"] == variable and "value" in e)


def _parse_number(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None
