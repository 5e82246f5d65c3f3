"""Find the level at which a field exists that stands at another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scenario_kit.lint.object_fields.mistake import format_field
from scenario_kit.model.json_document import Place
from scenario_kit.schema.object_types.field_type import FieldType, ObjectType
from scenario_kit.schema.object_types.kubernetes import resolve_type

#: Levels below an object in which a field is looked for.
_DEPTH: Final = 4
#: Equally near fields that are worth a mention.
_FEW: Final = 3


def find_right_level(name: str, around: Sequence[tuple[Place, ObjectType]]) -> tuple[str, ...]:
    """Return the places of the nearest fields of that name: below the object where it stands, or beside or above it.

    ``around`` are the objects from the outermost to the one where it stands. A level with a single such field comes
    first; if there is none, one with a few.
    """
    found = [_find_below(name, type_, place) for place, type_ in reversed(around)]
    for most in (1, _FEW):
        for places in found:
            if 0 < len(places) <= most:
                return tuple(format_field(place) for place in places)
    return ()


def _find_below(name: str, type_: ObjectType, place: Place) -> list[Place]:
    """Return the places of the field that are the fewest levels below an object."""
    level: list[tuple[Place, ObjectType]] = [(place, type_)]
    for _ in range(_DEPTH):
        if found := [(*where, name) for where, each in level if name in each.fields]:
            return found
        level = [inner for where, each in level for inner in _list_inner(where, each)]
    return []


def _list_inner(place: Place, type_: ObjectType) -> Iterator[tuple[Place, ObjectType]]:
    for field, kind in type_.fields.items():
        if field in ("status", "managedFields", "ownerReferences"):
            continue
        inner, where = _get_object(kind, (*place, field))
        if inner is not None:
            yield where, resolve_type(inner)


def _get_object(kind: FieldType, place: Place) -> tuple[FieldType | None, Place]:
    """Return the object that a field holds, or that each entry of its list is."""
    if kind.form == "list" and kind.items is not None:
        return (kind.items, (*place[:-1], f"{place[-1]}[]")) if kind.items.form == "object" else (None, place)
    return (kind, place) if kind.form == "object" else (None, place)
