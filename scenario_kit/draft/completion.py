"""The editor schema of scenarios with completions from the catalogue: apps, versions, fault types, alerts, objects.

Completions restrict nothing: an app, fault or pack outside of the catalogue stays valid. Only parameters of a
catalogue's fault are validated, by its own schema.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, FaultType
from scenario_kit.render import render_catalog_app
from scenario_kit.render.apps.namespaces import locate_components
from scenario_kit.render.objects.lookup import format_reference
from scenario_kit.schema import Schema
from scenario_kit.schema.editor import build_editor_schema


def build_scenario_schema(catalog: Catalog) -> Schema:
    """Build the schema for completing scenarios in an editor."""
    schema = build_editor_schema("Scenario")
    parts = schema["definitions"]
    apps = [catalog.app(name, version) for name in catalog.apps() for version in catalog.versions(name)[:1]]
    faults = [catalog.fault(name) for name in catalog.faults()]
    packs = catalog.alert_packs()
    _offer(parts["AppChoice"]["properties"]["name"], [app.name for app in apps])
    _offer(parts["AppChoice"]["properties"]["alertPacks"]["items"], packs)
    _offer(parts["FaultUse"]["properties"]["type"], [fault.name for fault in faults])
    alerts = sorted({rule.name for pack in packs for rule in catalog.alert_pack(pack)})
    for name in ("AlertExpectation", "BackgroundAlert", "OnAlert"):
        _offer(parts[name]["properties"]["name"], alerts)
    parts["AppChoice"]["allOf"] = [_complete_options(app, catalog) for app in apps]
    parts["FaultUse"]["allOf"] = [_complete_parameters(fault) for fault in faults]
    parts["ScenarioSpec"]["allOf"] = [_complete_objects(app, catalog) for app in apps]
    return schema


def _offer(schema: Schema, values: Iterable[str]) -> None:
    """Offer values without excluding others."""
    schema["anyOf"] = [{"enum": list(values)}, {}]


def _build_offer(values: Iterable[str]) -> Schema:
    return {"anyOf": [{"enum": list(values)}, {}]}


def _build_condition(field: str, value: str) -> Schema:
    return {"properties": {field: {"const": value}}, "required": [field]}


def _complete_options(app: App, catalog: Catalog) -> Schema:
    """Complete an app's versions, load profiles and options."""
    then: Schema = {"version": _build_offer(catalog.versions(app.name))}
    if app.loads:
        then["load"] = {"properties": {"profile": _build_offer(app.loads)}}
    if properties := app.options.get("properties"):
        then["options"] = {"properties": {name: _strip_keywords(part) for name, part in properties.items()}}
    return {"if": _build_condition("name", app.name), "then": {"properties": then}}


def _complete_objects(app: App, catalog: Catalog) -> Schema:
    """Complete an app's objects in references."""
    try:
        objects = render_catalog_app(app, catalog)
    except AuthoringError:
        objects = ()
    references = _build_offer(sorted({format_reference(o, app.namespace) for o in objects}))
    located = locate_components(app, objects, app.namespace)
    workloads = _build_offer(sorted({component.workload for component in located.components}))

    def of_each(**fields: Schema) -> Schema:
        return {"items": {"properties": fields}}

    edges = of_each(**{"from": references, "to": references})
    truth = {"properties": {"rootCauses": of_each(entity=references), "propagation": edges}}
    expect = {"properties": {"alerts": of_each(entity=workloads), "background": of_each(entity=workloads)}}
    properties = {"faults": of_each(target=references), "expect": expect, "groundTruth": truth}
    return {
        "if": {"properties": {"app": _build_condition("name", app.name)}, "required": ["app"]},
        "then": {"properties": properties},
    }


def _complete_parameters(fault: FaultType) -> Schema:
    """Complete the parameters of a fault type, with descriptions, ranges and defaults."""
    properties = {name: _strip_keywords(part) for name, part in fault.parameters.get("properties", {}).items()}
    parameters: Schema = {"properties": properties, "additionalProperties": False, "description": fault.title}
    return {"if": _build_condition("type", fault.name), "then": {"properties": {"parameters": parameters}}}


def _strip_keywords(schema: Any) -> Any:
    """Remove extension keywords, and defaults that are templates."""
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not key.startswith("x-")}
    if "{{" in str(kept.get("default", "")):
        del kept["default"]
    return kept
