"""Whether the parameters of an app's twin fit together, before anything runs by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from scenario_kit.lab.twin.engine import Twin
from scenario_kit.lab.twin.parameters import Parameters, Step, read
from scenario_kit.model.app import App
from scenario_kit.model.image import like

#: Maps and lists of the document whose entries are read one by one, to tell which one is wrong.
_ENTRIES: Final = ("components", "edges")


def mistakes(app: App) -> tuple[str, ...]:
    """What is wrong with the twin of an app, each with its place in ``twin.yaml``; nothing where it can run.

    What has the wrong shape, or names what is not there, is told alone.
    """
    if app.twin is None:
        return ()
    try:
        parameters = read(app.twin)
        Twin(app, 0)
    except msgspec.ValidationError as error:
        return (_place(app.twin) or str(error),)
    except ValueError as error:
        return (str(error).removeprefix("twin: "),)
    return (*_strangers(parameters), *_unread(parameters), *_unmatched(parameters, app.images))


def _place(document: Mapping[str, Any]) -> str:
    """The first entry that cannot be read, and why; empty where it is none of the entries."""
    for family in _ENTRIES:
        body = document.get(family) or {}
        for name, entry in body.items() if isinstance(body, Mapping) else enumerate(body):
            try:
                read({**document, family: {name: entry} if isinstance(body, Mapping) else [entry]})
            except msgspec.ValidationError as error:
                if f"$.{family}" in str(error):
                    said = str(error).replace("$.components[...]", f"components.{name}")
                    return said.replace("$.edges[0]", f"edges[{name}]")
    return ""


def _strangers(parameters: Parameters) -> Iterator[str]:
    """Names of components, in the parts that nothing has looked up so far, that the twin does not have."""
    edges = {(edge.caller, edge.callee) for edge in parameters.edges}
    named = [
        (f"edges[{i}].{end}", getattr(e, end)) for i, e in enumerate(parameters.edges) for end in ("caller", "callee")
    ]
    named += [(f"exporters[{i}].component", e.component) for i, e in enumerate(parameters.exporters)]
    named += [(f"queues[{i}].component", q.component) for i, q in enumerate(parameters.queues)]
    named += [("load.component", parameters.load.component)]
    if parameters.collector is not None:
        named.append(("collector.component", parameters.collector.component))
    for place, name in named:
        if name not in parameters.components:
            yield f"{place}: there is no component '{name}'"
    for name, model in parameters.components.items():
        for need in model.start.needs:
            if (name, need.callee) not in edges:
                yield f"components.{name}.start.needs: there is no edge from '{name}' to '{need.callee}'"


def _unread(parameters: Parameters) -> Iterator[str]:
    """Numbers that are to be drawn, of a name that no route draws."""
    routes = (*parameters.load.routes.values(), *(t for c in parameters.load.crowds.values() for t in c.tasks.values()))
    drawn = {name for route in routes for name in route.draws}
    for component, model in parameters.components.items():
        for name, operation in model.operations.items():
            for step in _below(operation.steps):
                for asked in (step.times, step.keys_if):
                    if isinstance(asked, str) and asked and asked not in drawn:
                        known = ", ".join(sorted(drawn)) or "none"
                        yield f"components.{component}.operations.{name}: no route draws '{asked}'; drawn are {known}"


def _below(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from _below(step.steps)


def _unmatched(parameters: Parameters, images: Iterable[str]) -> Iterator[str]:
    """Components that no image of the app implements."""
    known = tuple(images)
    for name, model in parameters.components.items():
        if known and not any(like(image, model.image) for image in known):
            yield f"components.{name}.image: '{model.image}' is none of the app's `images`"
