"""All checks of an object that a fault wrote."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.rules.leaks.needless.choices import find_choices
from scenario_kit.lint.rules.leaks.needless.marks import find_unused_marks
from scenario_kit.lint.rules.leaks.needless.names import find_strange_names
from scenario_kit.lint.rules.leaks.needless.presence import explain_unused
from scenario_kit.lint.rules.leaks.needless.settings import find_unused_documents, find_unused_variables
from scenario_kit.lint.rules.leaks.needless.surroundings import Needless, ObjectSurroundings
from scenario_kit.lint.rules.leaks.needless.texts import find_texts
from scenario_kit.model import Object
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP

__all__ = ["Needless", "find_needless"]


def find_needless(obj: Object, was: Object | None, world: ObjectSurroundings, *, created: bool) -> Iterator[Needless]:
    """Find unneeded data of an object; ``was`` is the object before, ``created`` is set if a change creates it.

    The spec of an experiment is not checked: it has to describe what is injected.
    """
    if created and (reason := explain_unused(obj, world)):
        yield Needless(("metadata", "name"), obj["metadata"]["name"], reason)
        return
    yield from find_unused_marks(obj, was, world)
    yield from find_strange_names(obj, was, world, created=created)
    if str(obj.get("apiVersion", "")).startswith(f"{CHAOS_GROUP}/"):
        return
    yield from find_unused_variables(obj, was, world)
    yield from find_unused_documents(obj, was, world, created=created)
    new = world.list_new_texts(obj, was)
    yield from find_texts(obj, was, new, world)
    yield from find_choices(obj, was, new, world)
