"""Find the fields that changes write, by comparing rendered objects before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scenario_kit.changes.operation import is_among, name_field_owner
from scenario_kit.lint.simulation.applied_changes import apply_changes
from scenario_kit.model import App, Change, Object, Reference
from scenario_kit.model.kubernetes.difference import Path, WrittenField, find_paths, get_at
from scenario_kit.model.kubernetes.reference import make_reference


def list_written_fields(changes: Sequence[Change], objects: Sequence[Object], app: App) -> set[WrittenField]:
    """Return the fields that the changes write, one after the other, except in objects that they create."""
    found: set[WrittenField] = set()
    for change, before, after, _ in apply_changes(objects, changes, app):
        named = set(change.operation.list_fields(before, app))
        found |= named or set(_list_differences(before, after, app.namespace))
    return found


def is_outside_app(change: Change, objects: Sequence[Object], app: App) -> bool:
    """Return whether a change targets an object outside of the app, whose former state is unknown here."""
    ref = change.operation.ref
    if ref is None or change.operation.restarts or change.operation.rolls_back:
        return False
    return not is_among(objects, ref, app.namespace)


def _list_differences(old: Sequence[Object], new: Sequence[Object], namespace: str) -> Iterator[WrittenField]:
    before, after = pair_changed(old, new, namespace)
    for ref, obj in before.items():
        if ref not in after:
            yield WrittenField(name_field_owner(ref, namespace))
        else:
            yield from (WrittenField(name_field_owner(ref, namespace), path) for path in find_paths(obj, after[ref]))


def pair_changed(
    old: Sequence[Object], new: Sequence[Object], namespace: str
) -> tuple[dict[Reference, Object], dict[Reference, Object]]:
    """Return by reference the objects that are in only one of two states of an app: the old ones, and the new ones."""
    known, made = {id(obj) for obj in old}, {id(obj) for obj in new}
    gone = {make_reference(obj, namespace): obj for obj in old if id(obj) not in made}
    return gone, {make_reference(obj, namespace): obj for obj in new if id(obj) not in known}


def find_changed(old: Object, new: Object) -> Iterator[tuple[Path, Any]]:
    """Yield the paths of the smallest parts that differ, with their new values; None if removed."""
    for path in find_paths(old, new):
        yield path, get_at(new, path)
