"""All questions about one object that a fault wrote."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.needless.marks import marks
from scenario_kit.lint.needless.names import names
from scenario_kit.lint.needless.presence import unused
from scenario_kit.lint.needless.settings import documents, variables
from scenario_kit.lint.needless.surroundings import Needless, ObjectSurroundings
from scenario_kit.lint.needless.texts import texts
from scenario_kit.model import Object
from scenario_kit.model.chaos import GROUP as CHAOS_GROUP

__all__ = ["Needless", "needless"]


def needless(obj: Object, was: Object | None, world: ObjectSurroundings, *, created: bool) -> Iterator[Needless]:
    """What the object says and nothing reads; ``was`` is the object before, ``created`` that a change made it.

    The spec of an experiment is left out: it has to say what is to be done, and where.
    """
    if created and (reason := unused(obj, world)):
        yield Needless(("metadata", "name"), obj["metadata"]["name"], reason)
        return
    yield from marks(obj, was, world)
    yield from names(obj, was, world, created=created)
    if str(obj.get("apiVersion", "")).startswith(f"{CHAOS_GROUP}/"):
        return
    yield from variables(obj, was, world)
    yield from documents(obj, was, world, created=created)
    yield from texts(obj, was, world)
