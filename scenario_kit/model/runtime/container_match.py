"""Which component a container runs."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.image import matches_image
from scenario_kit.model.twin.component import ComponentModel
from scenario_kit.model.twin.definition import TwinDefinition


def match_components(parameters: TwinDefinition, container: Object) -> Iterator[str]:
    """Yield the components that a container of a pod's spec can be, in the order of the definition."""
    for name, model in parameters.components.items():
        if _matches(model, container):
            yield name


def _matches(model: ComponentModel, container: Object) -> bool:
    """Return whether image, program, arguments and name of a container are those of a component."""
    words = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
    program = next(iter(words), "").rpartition("/")[2]
    return (
        matches_image(str(container.get("image", "")), model.image)
        and (not model.commands or program in model.commands)
        and all(any(fnmatchcase(word, pattern) for word in words) for pattern in model.arguments)
        and fnmatchcase(str(container["name"]), model.container)
    )
