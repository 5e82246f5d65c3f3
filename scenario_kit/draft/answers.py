"""The answers of an author, and the choices at each step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Object, Reference
from scenario_kit.model.authored.scenario import Outcome
from scenario_kit.model.kubernetes.reference import find_named
from scenario_kit.render.apps.app import render_catalog_app
from scenario_kit.render.faults.applicability import Offer, find_component, list_targets, offer
from scenario_kit.render.faults.first_offer import render_objects_for
from scenario_kit.render.objects.lookup import format_reference

#: Maximum length of a scenario's name, from which names in the cluster are derived.
LONGEST_NAME: Final = 52


@dataclass(frozen=True, slots=True)
class Answers:
    """The choices for one scenario. Empty ones are derived.

    ``use`` is the fault's name in the scenario, ``start``, ``recurrence`` and ``replicas`` are its fields. Without an
    incident the fault is a distractor, or there is neither ``target`` nor ``fault``.
    """

    app: str
    version: str
    target: Reference | None
    fault: str
    parameters: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    author: str = ""
    users: int = 0
    profile: str = ""
    packs: tuple[str, ...] = ()
    use: str = ""
    start: dict[str, Any] = field(default_factory=dict)
    recurrence: dict[str, Any] = field(default_factory=dict)
    replicas: int | None = None
    outcome: Outcome | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class BreakableEntity:
    """A part of the app that can be broken: a component with its objects, or an object without a component."""

    name: str
    role: str
    objects: tuple[str, ...]


#: Kinds that faults break and that belong to no component.
_ALONE: Final = ("ConfigMap", "Secret", "PersistentVolumeClaim", "Ingress", "Gateway", "CronJob")


def list_entities(app: App, objects: Sequence[Object]) -> list[BreakableEntity]:
    """Return the breakable parts of an app in the order of its definition; single objects come last."""
    by_component: dict[str, list[str]] = {c.name: [] for c in app.components}
    alone = []
    for obj in objects:
        component = find_component(app, objects, obj)
        reference = format_reference(obj, app.namespace)
        if component is not None:
            by_component[component.name].append(reference)
        elif obj["kind"] in _ALONE:
            alone.append(BreakableEntity(reference, obj["kind"], (reference,)))
    roles = {c.name: c.role for c in app.components}
    return [BreakableEntity(name, roles[name], tuple(found)) for name, found in by_component.items() if found] + alone


def list_names(app: App, objects: Sequence[Object]) -> list[str]:
    """List the names under which parts of an app can be chosen: components, then single objects, then all objects."""
    entities = list_entities(app, objects)
    return [*(e.name for e in entities), *(o for e in entities for o in e.objects)]


def list_settings_with(name: str, app: App, catalog: Catalog) -> list[str]:
    """List the options and load profiles, each with default values otherwise, under which the app has such a part."""
    settings = {
        f"option `{option}: {json.dumps(value)}`": {option: value}
        for option, schema in app.options.get("properties", {}).items()
        for value in ((True, False) if schema.get("type") == "boolean" else schema.get("enum", ()))
    }
    settings |= {f"load profile `{profile}`": dict(load.options) for profile, load in app.loads.items()}
    return [text for text, chosen in settings.items() if name in _list_names_with(app, chosen, catalog)]


def _list_names_with(app: App, chosen: Mapping[str, Any], catalog: Catalog) -> list[str]:
    try:
        return list_names(app, render_catalog_app(app, catalog, chosen))
    except AuthoringError:  # the app's template refuses this value on its own
        return []


class Aimed(NamedTuple):
    """A fault at each object of an entity where it takes effect.

    If there is none, ``why`` and ``fix`` explain it; they are empty if the entity has no object of a suitable kind.
    """

    offers: tuple[Offer, ...]
    why: str = ""
    fix: str = ""


def aim_fault(
    fault: str, entity: str, app: App, catalog: Catalog, parameters: Mapping[str, Any] | None = None
) -> Aimed:
    """Try a fault at an entity (a component's name or a reference), with the app options that it needs."""
    fault_type = catalog.fault(fault)
    objects = render_objects_for(fault_type, app, catalog)
    found: list[Offer] = []
    refused: list[AuthoringError] = []
    for target in list_targets(fault_type, app, objects):
        if _belongs(target, entity, app, objects):
            try:
                found.append(offer(fault_type, app, objects, target, parameters, name=fault))
            except AuthoringError as error:
                refused.append(error)
    if found or not refused:
        return Aimed(tuple(found))
    return Aimed((), refused[0].first_message, refused[0].fix)


def find_faults(entity: str, app: App, catalog: Catalog) -> Iterator[Offer]:
    """Yield every fault that takes effect at an entity with default parameters, once per object."""
    return (found for name in catalog.faults() for found in aim_fault(name, entity, app, catalog).offers)


def name_for(answers: Answers) -> str:
    """Return a default name for the scenario, from target and fault."""
    if answers.target is None:
        return f"{answers.app}-no-incident"
    target = answers.target.name
    words = f"{target}-{answers.fault}" if not answers.fault.startswith(f"{target}-") else answers.fault
    return words[:LONGEST_NAME].rstrip("-").lower().replace(".", "-")


def _belongs(reference: Reference, entity: str, app: App, objects: Sequence[Object]) -> bool:
    if entity in (reference, f"{reference.kind}/{reference.name}"):
        return True
    obj = find_named(objects, *reference.bare)
    component = None if obj is None else find_component(app, objects, obj)
    return component is not None and component.name == entity
