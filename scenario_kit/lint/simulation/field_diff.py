"""Which fields a change writes: what differs between the rendered objects before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scenario_kit.changes.operation import is_among, name_field_owner
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Change, Object
from scenario_kit.model.kubernetes.difference import Path, WrittenField, find_paths, get_at
from scenario_kit.model.kubernetes.reference import make_reference


def list_written(changes: Sequence[Change], objects: Sequence[Object], app: App) -> set[WrittenField]:
    """List the fields that the changes write, one after the other. What they create is theirs alone and does not
    count.
    """
    found: set[WrittenField] = set()
    for change in changes:
        named = set(change.operation.list_fields(objects, app))
        found |= named
        try:
            new = change.operation.simulate(objects, app, app.namespace)
        except AuthoringError:
            continue  # another rule says so
        if not named:
            found |= set(_list_differences(objects, new, app.namespace))
        objects = new
    return found


def is_elsewhere(change: Change, objects: Sequence[Object], app: App) -> bool:
    """Return whether a change is of an object that is not among these: what it was before is not known here."""
    if change.target is None or change.operation.restarts or change.operation.rolls_back:
        return False
    return not is_among(objects, change.target, app.namespace)


def _list_differences(old: Sequence[Object], new: Sequence[Object], namespace: str) -> Iterator[WrittenField]:
    before = {make_reference(obj, namespace): obj for obj in old}
    after_ = {make_reference(obj, namespace): obj for obj in new}
    for ref, obj in before.items():
        if ref not in after_:
            yield WrittenField(name_field_owner(ref, namespace))
        elif after_[ref] is not obj:
            yield from (WrittenField(name_field_owner(ref, namespace), path) for path in find_paths(obj, after_[ref]))


def find_changed(old: Object, new: Object) -> Iterator[tuple[Path, Any]]:
    """Find the paths of the smallest parts that differ, each with what stands there now; None where nothing does."""
    for path in find_paths(old, new):
        yield path, get_at(new, path)
