"""Consistency checks of an app's twin definition, before it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase
from typing import Final

from scenario_kit.lab.twin.definition_mistake import DefinitionMistake, build_mistake, build_unknown, list_steps
from scenario_kit.lab.twin.definition_references import find_dangling_names, find_missing_flags
from scenario_kit.lab.twin.definition_values import find_contradictions
from scenario_kit.lab.twin.definition_variables import find_unset_variables
from scenario_kit.lab.twin.dry_run import find_misses, list_processes
from scenario_kit.lab.twin.engine import Twin
from scenario_kit.lab.twin.healthy_view import build_view
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.model.authored.app import App
from scenario_kit.model.base import Object
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.image import matches_image, normalize_image
from scenario_kit.model.kubernetes.pod_template import POD_KINDS, read_pod_spec
from scenario_kit.model.runtime.trace import SERVED_KINDS
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.queue import RECORDS

#: Quoted parts of an error.
_QUOTED: Final = re.compile(r"'([^']*)'")


def find_mistakes(
    app: App,
    rendered: tuple[App, Sequence[Object]] | None = None,
    known: AbstractSet[str] = frozenset(),
    render_others: Callable[[], Iterable[Sequence[Object]]] = tuple,
) -> tuple[DefinitionMistake, ...]:
    """Find mistakes in the twin of an app; empty if it can run.

    A call of an undefined operation is reported alone. With ``rendered``, the app and its objects, mismatches of the
    healthy app are reported as well. ``known`` are names of components of the app's other versions. ``render_others``
    yields its objects with other options, of which some may have what the default ones lack.
    """
    if app.twin is None:
        return ()
    parameters = app.twin
    try:
        Twin(app, 0)
    except ValueError as error:
        return tuple(_explain_refusal(parameters, str(error).removeprefix("twin: ")))
    except KeyError as error:  # a name that the checks below explain
        unknown = DefinitionMistake(f"there is no component {error}")
        return tuple(_find_unknown_components(parameters)) or (unknown,)
    found = (
        *_find_unranged(parameters),
        *_find_unknown_components(parameters),
        *find_dangling_names(parameters, known),
        *find_contradictions(parameters),
        *_find_unretained_topics(parameters),
        *_find_unregistered_names(parameters),
        *_find_reversed_pauses(parameters),
        *_find_unread_numbers(parameters),
        *_find_lone_parallel_steps(parameters),
        *_find_concurrent_attempts(parameters),
        *_find_unmatched(parameters, app.images),
        *_find_undefined_edges(parameters, app),
        *_find_other_sources(parameters, app),
        *_find_undeclared_consumers(parameters, app),
        *_find_unmeasured_entry(parameters, app.entry),
    )
    if found or rendered is None:
        return found
    if unlisted := tuple(_find_unlisted_images(app, parameters, rendered[1])):
        return unlisted
    if missing := tuple(find_missing_flags(parameters, rendered[1])):
        return missing
    if misses := find_misses(rendered[0], parameters, rendered[1]):
        return tuple(build_mistake(miss.place, miss.text) for miss in misses)
    return tuple(find_unset_variables(parameters, _deploy(rendered, parameters, render_others)))


def _deploy(
    rendered: tuple[App, Sequence[Object]],
    parameters: TwinDefinition,
    render_others: Callable[[], Iterable[Sequence[Object]]],
) -> Iterator[ProcessTable]:
    """Yield the processes of the healthy app, first with the default options, then with others."""
    namespace = rendered[0].namespace
    yield list_processes(parameters, build_view(namespace, rendered[1]))
    for objects in render_others():
        yield list_processes(parameters, build_view(namespace, objects))


def _find_unranged(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find assumptions outside of their range, and ranges that are invalid where the assumption is used."""
    for name, assumption in parameters.assumptions.items():
        place, low, high = ("assumptions", name), assumption.low, assumption.high
        if not low <= assumption.value <= high:
            yield build_mistake(
                (*place, "value"), f"{assumption.value:g} is not between `low` {low:g} and `high` {high:g}"
            )
            continue
        for end, value in (("low", low), ("high", high)):
            try:
                parameters.with_assumptions({name: value})
            except ValueError as error:
                yield build_mistake(
                    (*place, end), f"{value:g} is invalid where the assumption is used: {error}".replace("`$.", "`")
                )


def _explain_refusal(parameters: TwinDefinition, message: str) -> Iterator[DefinitionMistake]:
    """Explain why the twin cannot be built: by names and values that are wrong, else by the message alone."""
    found = (*_find_unknown_components(parameters), *find_contradictions(parameters))
    place = _locate_call(parameters, message)
    words = _QUOTED.findall(message)
    if place and not any(mistake.place == ("load", "component") for mistake in found):
        names = [f"{name}/{call}" for name, model in parameters.components.items() for call in model.operations]
        yield DefinitionMistake(message, place, words[0], tuple(names) if "/" in words[0] else ())
    elif not found:
        yield DefinitionMistake(message)
    yield from found


def _locate_call(parameters: TwinDefinition, message: str) -> Place:
    """Locate the call in an error by the quoted names: an operation, or a caller and a callee."""
    words = _QUOTED.findall(message)
    for place, operation in _list_consumed(parameters):
        if words and words[0] == operation:
            return (*place, "operation")
    for place, step in list_steps(parameters):
        caller_and_callee = [place[1], step.call.partition("/")[0]]
        if step.call and (step.call == words[0] or caller_and_callee == words[:2]):
            return (*place, "call")
    name = words[0].partition("/")[2] if words else ""
    if name in parameters.load.routes:
        return ("load", "routes", name)
    for crowd, users in parameters.load.user_classes.items():
        if words and words[0] in [f"{parameters.load.component}/{task}" for task in users.tasks]:
            return ("load", "userClasses", crowd, "tasks", name)
    entry = (parameters.load.entry, parameters.load.component, f"{parameters.load.entry}/")
    return ("load", "entry") if words and words[0] in entry else ()


def _find_unknown_components(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find undefined component names in the sections that no other check covers."""
    edges = {(edge.caller, edge.callee) for edge in parameters.edges}
    named: list[tuple[Place, str]] = []
    for i, edge in enumerate(parameters.edges):
        named += [(("edges", i, "caller"), edge.caller), (("edges", i, "callee"), edge.callee)]
    named += [(("exporters", i, "component"), e.component) for i, e in enumerate(parameters.exporters)]
    named += [(("queues", i, "component"), q.component) for i, q in enumerate(parameters.queues)]
    named += [(("load", "component"), parameters.load.component)]
    if parameters.collector is not None:
        named.append((("collector", "component"), parameters.collector.component))
    for place, name in named:
        if name not in parameters.components:
            yield build_unknown(place, f"there is no component '{name}'", name, parameters.components)
    for name, model in parameters.components.items():
        for i, port in enumerate(model.ports):
            for path, callees in port.health_checks.items():
                for callee in callees:
                    if (name, callee) not in edges:
                        place = ("components", name, "ports", i, "healthChecks", path)
                        yield _build_unconnected(place, name, callee, edges)
        for i, need in enumerate(model.start.dependencies):
            if (name, need.callee) not in edges:
                place = ("components", name, "start", "dependencies", i, "callee")
                yield _build_unconnected(place, name, need.callee, edges)


def _build_unconnected(
    place: Place, caller: str, callee: str, edges: AbstractSet[tuple[str, str]]
) -> DefinitionMistake:
    """Build a mistake about a callee to which there is no edge."""
    callees = [other for name, other in edges if name == caller]
    return build_unknown(place, f"there is no edge from '{caller}' to '{callee}'", callee, callees)


def _find_unlisted_images(
    app: App, parameters: TwinDefinition, objects: Sequence[Object]
) -> Iterator[DefinitionMistake]:
    """Find images of containers that the simulated registry does not have, so that their pods would never start."""
    listed = {normalize_image(image) for image in (*app.images, *parameters.images)}
    missing: set[str] = set()
    for obj in objects if app.images else ():
        spec = read_pod_spec(obj) if obj["kind"] in POD_KINDS else {}
        for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
            name = normalize_image(str(container.get("image", "")))
            known = name in listed or any(fnmatchcase(name, pattern) for pattern in parameters.idle_images)
            if not known and name not in missing:
                missing.add(name)
                where = f"{obj['kind']}/{obj['metadata']['name']}"
                yield DefinitionMistake(
                    f"the image '{container.get('image', '')}' of {where} is not in `images` of app.yaml, so it could "
                    "not be pulled"
                )


def _find_unregistered_names(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find registries that are none, and names under which no callee is registered: calls would find no address."""
    edges = {(edge.caller, edge.callee) for edge in parameters.edges}
    registries = {registry.component for registry in parameters.registries}
    for i, registry in enumerate(parameters.registries):
        if registry.component not in parameters.components:
            message = f"there is no component '{registry.component}'"
            yield build_unknown(("registries", i, "component"), message, registry.component, parameters.components)
    for name, model in parameters.components.items():
        for i, entry in enumerate(model.registrations):
            place = ("components", name, "registrations", i, "registry")
            if entry.registry not in registries:
                message = f"no entry of `registries` has the component '{entry.registry}'"
                yield build_unknown(place, message, entry.registry, registries)
            elif (name, entry.registry) not in edges:
                yield _build_unconnected(place, name, entry.registry, edges)
    for i, edge in enumerate(parameters.edges):
        if edge.registry and edge.registry not in registries:
            message = f"no entry of `registries` has the component '{edge.registry}'"
            yield build_unknown(("edges", i, "registry"), message, edge.registry, registries)
        elif edge.registry and (callee := parameters.components.get(edge.callee)) is not None:
            names = [entry.name for entry in callee.registrations if entry.registry == edge.registry]
            if edge.name not in names:
                message = (
                    f"'{edge.callee}' has no registration of this name in '{edge.registry}'{_list_candidates(names)}"
                )
                yield build_unknown(("edges", i, "name"), message, edge.name, names)


def _find_reversed_pauses(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find pauses of users whose shortest is longer than their longest."""
    load = parameters.load
    places: list[tuple[Place, Sequence[float]]] = [(("load", "thinkSeconds"), load.think_seconds)]
    places += [
        (("load", "userClasses", name, "thinkSeconds"), c.think_seconds) for name, c in load.user_classes.items()
    ]
    for place, (shortest, longest) in places:
        if shortest > longest:
            yield build_mistake(place, f"the shortest pause, {shortest:g}, is above the longest, {longest:g}")


def _list_consumed(parameters: TwinDefinition) -> Iterator[tuple[Place, str]]:
    """List the consumers' operations, spelled as calls, with the place of the consumer."""
    for name, model in parameters.components.items():
        for i, consumer in enumerate(model.consumers):
            yield ("components", name, "consumers", i), f"{name}/{consumer.operation}"


def _find_unretained_topics(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find topics without a queue: records appended there would be lost, and readers would wait forever."""
    kept = {queue.component: queue.topics for queue in parameters.queues}
    edges = {(edge.caller, edge.callee) for edge in parameters.edges}
    for name, model in parameters.components.items():
        place: Place
        for operation, body in model.operations.items():
            if body.topic and body.topic not in kept.get(name, ()):
                message = (
                    f"no entry of `queues` for '{name}' has a topic '{body.topic}'{_list_candidates(kept.get(name))}"
                )
                place = ("components", name, "operations", operation, "topic")
                yield build_unknown(place, message, body.topic, kept.get(name, ()))
        for i, consumer in enumerate(model.consumers):
            place = ("components", name, "consumers", i)
            if consumer.queue not in kept:
                message = f"`queues` has no '{consumer.queue}'{_list_candidates(kept)}"
                yield build_unknown((*place, "queue"), message, consumer.queue, kept)
            elif consumer.topic not in kept[consumer.queue]:
                topics = _list_candidates(kept[consumer.queue])
                message = f"'{consumer.queue}' has no topic '{consumer.topic}'{topics}"
                yield build_unknown((*place, "topic"), message, consumer.topic, kept[consumer.queue])
            elif (name, consumer.queue) not in edges:
                yield _build_unconnected((*place, "queue"), name, consumer.queue, edges)


def _list_candidates(known: Iterable[str] | None) -> str:
    return f"; there is {', '.join(sorted(known))}" if known else ""


def _find_unread_numbers(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find numbers used that no route draws."""
    routes = (
        *parameters.load.routes.values(),
        *(t for c in parameters.load.user_classes.values() for t in c.tasks.values()),
    )
    drawn = {name for route in routes for name in route.draws}
    if any(model.consumers for model in parameters.components.values()):
        drawn |= RECORDS
    for place, step in list_steps(parameters):
        for field, draw in (("times", step.times), ("keysIf", step.keys_if)):
            if isinstance(draw, str) and draw and draw not in drawn:
                known = ", ".join(sorted(drawn)) or "none"
                yield build_unknown((*place, field), f"no route draws '{draw}'; drawn are {known}", draw, drawn)


def _find_lone_parallel_steps(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find parallel steps without a sibling."""
    for place, step in list_steps(parameters):
        if step.parallel and step.call and step.times == 1.0:
            other = "calls of different operations that start together are `steps` of one with `fork`"
            yield build_mistake((*place, "parallel"), f"a single call cannot be parallel with itself; {other}")
        if step.fork and len(step.steps) < 2:
            yield build_mistake((*place, "fork"), "it needs at least two `steps` that start together")


def _find_concurrent_attempts(parameters: TwinDefinition) -> Iterator[DefinitionMistake]:
    """Find several attempts to connect of calls that do not wait for each other."""
    for number, edge in enumerate(parameters.edges):
        if edge.connect_attempts > 1 and not edge.serialize_connects:
            yield build_mistake(
                ("edges", number, "connectAttempts"),
                "several attempts are simulated only one call at a time: add `serializeConnects: true`, or count them "
                "as `retries` of the call",
            )


def _find_unmatched(parameters: TwinDefinition, images: Iterable[str]) -> Iterator[DefinitionMistake]:
    """Find components that no image of the app implements."""
    known = tuple(images)
    for name, model in parameters.components.items():
        if known and not any(matches_image(image, model.image) for image in known):
            yield build_mistake(("components", name, "image"), f"'{model.image}' is not in the app's `images`")


def _find_undefined_edges(parameters: TwinDefinition, app: App) -> Iterator[DefinitionMistake]:
    """Find edges that the app's definition does not declare: no fault could target them."""
    names = {component.name for component in app.components}
    calls = {(call.caller, call.callee) for call in app.calls}
    collector = parameters.collector.component if parameters.collector is not None else ""
    for i, edge in enumerate(parameters.edges):
        if {edge.caller, edge.callee} <= names and edge.callee != collector and (edge.caller, edge.callee) not in calls:
            call = f"{{caller: {edge.caller}, callee: {edge.callee}}}"
            yield build_mistake(
                ("edges", i), f"`calls` of app.yaml has no {call}, which faults, drafts and predictions rely on"
            )


def _find_other_sources(parameters: TwinDefinition, app: App) -> Iterator[DefinitionMistake]:
    """Find edges that read their address elsewhere than the app's definition says: faults there would do nothing."""
    declared = {(call.caller, call.callee): call.config for call in app.calls if call.config}
    for i, edge in enumerate(parameters.edges):
        config = declared.get((edge.caller, edge.callee), "")
        read = {edge.name, edge.address.key, edge.address.host_key, edge.address.port_key} - {""}
        if config and read and config not in read:
            message = f"`calls` of app.yaml has `config: {config}`, but the edge reads {', '.join(sorted(read))}"
            yield build_unknown(("edges", i), message, config, read)


def _find_undeclared_consumers(parameters: TwinDefinition, app: App) -> Iterator[DefinitionMistake]:
    """Find consumers that the app's definition does not declare as such."""
    for name, model in parameters.components.items():
        for i, consumer in enumerate(model.consumers):
            broker = app.component(consumer.queue)
            if broker is None or app.component(name) is None or name in app.consumers(consumer.queue):
                continue
            call = f"`calls` of app.yaml has no {{caller: {name}, callee: {broker.name}, mode: Async}}"
            lacking = call if broker.role == "Queue" else f"{broker.name} has not the role Queue in app.yaml"
            message = f"{name} consumes {consumer.topic} of {broker.name}, but {lacking}"
            known = "by which faults, drafts and lint know consumers"
            yield build_mistake(("components", name, "consumers", i), f"{message}, {known}")


def _find_unmeasured_entry(parameters: TwinDefinition, entry: str) -> Iterator[DefinitionMistake]:
    """Find an entry component whose requests are not counted: its spans decide whether an incident is resolved."""
    model = parameters.components.get(entry)
    if model is None:
        return
    served = any(body.span and body.kind in SERVED_KINDS for body in model.operations.values())
    for lacking, what in (
        (parameters.collector is None, "the twin has no `collector`"),
        (model.telemetry is None, "it has no `telemetry`"),
        (not served, "none of its operations has a `span` of kind SERVER or CONSUMER"),
    ):
        if lacking:
            message = f"{what}: requests of the app's entry are not counted, but trials are judged by them"
            yield build_mistake(("components", entry), message)
            return
