"""Judge JSON patches (RFC 6902): the paths of their steps, and the values that they write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scenario_kit.lint.object_fields.mistake import FieldMistake, format_field, join_fields, shorten_names, suggest_name
from scenario_kit.lint.object_fields.objects import Judging, find_field_mistakes
from scenario_kit.lint.object_fields.wrong_level import find_right_level
from scenario_kit.model.json_document import Place, join_pointer, split_pointer
from scenario_kit.schema.object_types.field_type import FieldType, ObjectType
from scenario_kit.schema.object_types.kubernetes import resolve_type

_INDEX: Final = re.compile(r"-|0|[1-9][0-9]*")
_WRITING: Final = ("add", "replace")


def find_step_mistakes(steps: Sequence[Any], type_: ObjectType, judging: Judging) -> Iterator[FieldMistake]:
    """Yield what is wrong with the steps of a JSON patch of an object; malformed steps fail on the object itself."""
    for i, step in enumerate(steps):
        if not isinstance(step, Mapping):
            continue
        for key in ("path", "from"):
            pointer = step.get(key)
            if not isinstance(pointer, str) or judging.is_open(pointer):
                continue
            found = _follow(pointer, FieldType("object", type=type_), (i, key))
            if isinstance(found, FieldMistake):
                yield found
            elif key == "path" and step.get("op") in _WRITING:
                yield from _judge_value(step.get("value"), found, pointer, judging, (i, "value"))


def _judge_value(value: Any, field: FieldType, pointer: str, judging: Judging, place: Place) -> Iterator[FieldMistake]:
    """Judge a value; messages name the field of the object, and places the value in the step."""
    target = _read_place(split_pointer(pointer))
    for mistake in find_field_mistakes(value, field, judging.send("Whole"), target):
        yield mistake._replace(place=(*place, *mistake.place[len(target) :]))


def _follow(pointer: str, field: FieldType, place: Place) -> FieldType | FieldMistake:
    """Follow a pointer to the field that it names."""
    passed: tuple[str, ...] = ()
    around: tuple[tuple[Place, ObjectType], ...] = ()
    parts = split_pointer(pointer)
    for i, part in enumerate(parts):
        where = (*passed, part)
        if field.form == "any":
            return field
        if field.form == "object":
            type_ = resolve_type(field)
            around = (*around, (passed, type_))
            if part not in type_.fields:
                return _report_path(parts, i, type_, around, place)
            field = type_.fields[part]
        elif field.items is None:
            message = f"`{format_field(_read_place(passed))}` has no fields, but the path goes on with `{part}`"
            return FieldMistake(place, message, pointer, join_pointer(parts[:i]), "end the path there")
        elif field.form == "list" and not _INDEX.fullmatch(part):
            message = f"`{format_field(_read_place(passed))}` is a list, but the path goes on with `{part}`"
            return FieldMistake(place, message, pointer, "an index, or `-` for the end", "write the index of the entry")
        else:
            field = field.items
        passed = where
    return field


def _report_path(
    parts: list[str], i: int, type_: ObjectType, around: tuple[tuple[Place, ObjectType], ...], place: Place
) -> FieldMistake:
    name, pointer = parts[i], join_pointer(parts)
    message = f"`{format_field(_read_place(parts[: i + 1]))}` does not exist"
    question, only = suggest_name(name, type_.fields)
    if only:
        right = join_pointer([*parts[:i], only, *parts[i + 1 :]])
        return FieldMistake(place, message, pointer, right, question, value=right)
    if elsewhere := join_fields(find_right_level(name, around)):
        return FieldMistake(place, message, pointer, elsewhere, f"`{name}` belongs to {elsewhere}")
    known = shorten_names(type_.fields)
    return FieldMistake(place, message, pointer, known, question or "correct the path")


def _read_place(parts: Sequence[str]) -> Place:
    return tuple(int(part) if part.isdigit() else part for part in parts)
