"""Names in a twin's definition that nothing has: what they declare would never happen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from scenario_kit.lab.twin.definition_mistake import DefinitionMistake, build_mistake, build_unknown, list_steps
from scenario_kit.model.base import Object
from scenario_kit.model.json_document import Place
from scenario_kit.model.twin.address import AddressSource
from scenario_kit.model.twin.component import ComponentModel
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.flag import FlagEffect

#: A metric, with or without labels.
_SERIES: Final = re.compile(r'[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_]\w*="[^"]*"(,\s*)?)*\})?')


def find_dangling_names(parameters: TwinDefinition, known: AbstractSet[str]) -> Iterator[DefinitionMistake]:
    """Find names of components, operations, routes and services that do not exist, and entries that repeat another.

    ``known`` are components of other versions: what flags do to those may stand in the part that versions share.
    """
    yield from _find_unknown_results(parameters)
    yield from _find_unknown_flag_parts(parameters, known)
    for name, model in parameters.components.items():
        yield from _find_unknown_operations(name, model)
    yield from _find_unmeasured_operations(parameters)
    yield from _find_unknown_givers(parameters)
    yield from _find_unserved_ports(parameters)
    yield from _find_unknown_services(parameters)
    yield from _find_repeated(parameters)


def find_missing_flags(parameters: TwinDefinition, objects: Sequence[Object]) -> Iterator[DefinitionMistake]:
    """Find a document of flags that the rendered objects do not contain: no flag would ever have a value."""
    flags = parameters.flags
    documents = {o["metadata"]["name"]: o.get("data") or {} for o in objects if o["kind"] == "ConfigMap"}
    if flags is None:
        return
    if flags.config_map not in documents:
        message = f"the manifests have no ConfigMap '{flags.config_map}'"
        yield build_unknown(("flags", "configMap"), message, flags.config_map, documents)
    elif flags.key not in documents[flags.config_map]:
        message = f"ConfigMap '{flags.config_map}' has no key '{flags.key}'"
        yield build_unknown(("flags", "key"), message, flags.key, documents[flags.config_map])


def _find_unknown_results(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find steps that depend on the results of an operation that nobody has."""
    calls = _list_calls(parameters)
    for place, step in list_steps(parameters):
        for field, named in (("invalidEntriesOf", step.invalid_entries_of), ("forEach", step.for_each)):
            if named and "{" not in named and named not in calls:
                yield build_unknown((*place, field), f"there is no operation '{named}'", named, calls)


def _find_unknown_flag_parts(parameters: TwinDefinition, known: AbstractSet[str]) -> Iterator[DefinitionMistake]:
    flags = parameters.flags
    if flags is None:
        return
    if flags.component not in parameters.components:
        message = f"there is no component '{flags.component}'"
        yield build_unknown(("flags", "component"), message, flags.component, parameters.components)
    for flag, effects in flags.effects.items():
        for i, effect in enumerate(effects):
            if effect.component in parameters.components or effect.component not in known:
                yield from _find_unknown_effect_parts(parameters, effect, ("flags", "effects", flag, i))


def _find_unknown_effect_parts(
    parameters: TwinDefinition, effect: FlagEffect, place: Place
) -> Iterator[DefinitionMistake]:
    model = parameters.components.get(effect.component)
    if model is None:
        message = f"there is no component '{effect.component}'"
        yield build_unknown((*place, "component"), message, effect.component, parameters.components)
        return
    for field, operation in (("operation", effect.operation), ("replacementOperation", effect.replacement_operation)):
        if operation and operation not in model.operations:
            message = f"'{effect.component}' has no operation '{operation}'"
            yield build_unknown((*place, field), message, operation, model.operations)
    called = {edge.callee for edge in parameters.edges if edge.caller == effect.component}
    if effect.redirect and effect.redirect not in called:
        message = f"there is no edge from '{effect.component}' to '{effect.redirect}'"
        yield build_unknown((*place, "redirect"), message, effect.redirect, called)
    if effect.flood_route and effect.flood_route not in parameters.load.routes:
        message = f"the load has no route '{effect.flood_route}'"
        yield build_unknown((*place, "floodRoute"), message, effect.flood_route, parameters.load.routes)
    if effect.handled_errors and effect.handled_errors not in (calls := _list_calls(parameters)):
        message = f"there is no operation '{effect.handled_errors}'"
        yield build_unknown((*place, "handledErrors"), message, effect.handled_errors, calls)


def _find_unknown_operations(name: str, model: ComponentModel) -> Iterator[DefinitionMistake]:
    """Find operations of a component that its files name and it does not have."""
    disk: Place = ("components", name, "disk")
    if model.disk.snapshots is not None:
        yield from _find_unlisted((*disk, "snapshots", "operations"), name, model, model.disk.snapshots.operations)
    for i, upkeep in enumerate(model.disk.maintenance):
        yield from _find_unlisted((*disk, "maintenance", i, "operations"), name, model, upkeep.operations)


def _find_unmeasured_operations(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find measured operations that no component has; exporters of one kind share a list, so one may lack some."""
    known = {operation for model in parameters.components.values() for operation in model.operations}
    for i, exporter in enumerate(parameters.exporters):
        for series, signal in exporter.series.items():
            place: Place = ("exporters", i, "series", series)
            if not _SERIES.fullmatch(series):
                expected = 'a metric, such as `up`, or one with labels, such as `up{job="api"}`'
                yield build_mistake(place, f"'{series}' is not {expected}")
            for k, operation in enumerate(signal.operations):
                if operation not in known:
                    message = f"no component has an operation '{operation}'"
                    yield build_unknown((*place, "operations", k), message, operation, known)


def _find_unlisted(
    place: Place, name: str, model: ComponentModel, operations: Iterable[str]
) -> Iterator[DefinitionMistake]:
    for i, operation in enumerate(operations):
        if operation not in model.operations:
            message = f"'{name}' has no operation '{operation}'"
            yield build_unknown((*place, i), message, operation, model.operations)


def _find_unknown_givers(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find addresses that a component hands out that does not exist."""
    sources: list[tuple[Place, AddressSource]] = [
        (("edges", i, "address", "component"), edge.address) for i, edge in enumerate(parameters.edges)
    ]
    sources += [
        (("components", name, "telemetry", "component"), model.telemetry)
        for name, model in parameters.components.items()
        if model.telemetry is not None
    ]
    for place, source in sources:
        if source.component and source.component not in parameters.components:
            message = f"there is no component '{source.component}'"
            yield build_unknown(place, message, source.component, parameters.components)


def _find_unserved_ports(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find ports of brokers and exporters on which their component does not listen."""
    named: list[tuple[Place, str, int]] = []
    named += [(("queues", i, "port"), queue.component, queue.port) for i, queue in enumerate(parameters.queues)]
    named += [(("exporters", i, "port"), each.component, each.port) for i, each in enumerate(parameters.exporters)]
    for place, component, port in named:
        model = parameters.components.get(component)
        if model is None or any(each.env or each.key for each in model.ports):
            continue
        numbers = {each.number for each in model.ports}
        if port not in numbers:
            yield build_unknown(place, f"'{component}' does not listen on {port}", str(port), map(str, numbers))


def _find_unknown_services(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find edges for the spans of a service inside of the caller that none of its operations has."""
    for i, edge in enumerate(parameters.edges):
        model = parameters.components.get(edge.caller)
        inside = {body.service for body in model.operations.values() if body.service} if model is not None else set()
        if edge.service and model is not None and edge.service not in inside:
            message = f"no operation of '{edge.caller}' has the `service` '{edge.service}'"
            yield build_unknown(("edges", i, "service"), message, edge.service, inside)


def _find_repeated(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find entries of lists that are about the same as an earlier one: only one of both would count."""
    keys: dict[str, list[Any]] = {
        "edges": [(edge.caller, edge.callee, edge.service) for edge in parameters.edges],
        "queues": [queue.component for queue in parameters.queues],
        "registries": [registry.component for registry in parameters.registries],
    }
    for section, known in keys.items():
        for i, key in enumerate(known):
            if (first := known.index(key)) != i:
                yield build_mistake((section, i), f"it repeats {section}[{first}], and only one of them would count")


def _list_calls(parameters: TwinDefinition) -> frozenset[str]:
    """List all operations as calls spell them."""
    return frozenset(
        f"{name}/{operation}" for name, model in parameters.components.items() for operation in model.operations
    )
