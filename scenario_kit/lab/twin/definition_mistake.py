"""Mistakes in a twin's definition, and the places in which they are looked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scenario_kit.model.json_document import Place
from scenario_kit.model.twin.decode import spell
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.operation import Step


class DefinitionMistake(NamedTuple):
    """A mistake, and its place in the app version's document; empty if the place is unknown.

    ``allowed`` are the names that could stand instead of ``observed``.
    """

    text: str
    place: Place = ()
    observed: str = ""
    allowed: tuple[str, ...] = ()


def build_mistake(place: Place, message: str) -> DefinitionMistake:
    """Build a mistake whose message begins with its place."""
    return DefinitionMistake(f"{spell(place)}: {message}", place)


def build_unknown(place: Place, message: str, observed: str, allowed: Iterable[str]) -> DefinitionMistake:
    """Build a mistake about a name that is none of ``allowed``."""
    return DefinitionMistake(f"{spell(place)}: {message}", place, observed, tuple(sorted(set(allowed))))


def list_steps(parameters: TwinDefinition) -> Iterator[tuple[Place, Step]]:
    """List all steps of all operations with their places."""
    for component, model in parameters.components.items():
        for name, operation in model.operations.items():
            yield from _list_steps_below(operation.steps, ("components", component, "operations", name))


def _list_steps_below(steps: Iterable[Step], place: Place) -> Iterator[tuple[Place, Step]]:
    for i, step in enumerate(steps):
        here = (*place, "steps", i)
        yield here, step
        yield from _list_steps_below(step.steps, here)
