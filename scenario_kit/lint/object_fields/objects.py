"""Judge objects, and the documents of patches that are merged into objects.

A document is judged by the type of its object. How complete it must be depends on how it is sent:

* ``Whole``: a new object, or a list that replaces another. Required fields must be there.
* ``Merge``: a JSON merge patch (RFC 7386). Mappings hold some of the fields, and null removes one; lists are whole.
* ``Strategic``: the same, but lists with a merge key are merged, and directives (``$patch``, ``$setElementOrder/…``)
  stand between the fields.
* ``Apply``: a server-side apply. Mappings and keyed lists hold some of the fields.
* ``Status``: the status of an object, which the API server ignores. Nothing is required.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from scenario_kit.lint.object_fields.mistake import (
    NO_VALUE,
    FieldMistake,
    format_field,
    join_fields,
    shorten_names,
    suggest_name,
)
from scenario_kit.lint.object_fields.values import find_wrong_value, report_type
from scenario_kit.lint.object_fields.wrong_level import find_right_level
from scenario_kit.model.json_document import Place
from scenario_kit.schema.object_types.field_type import SET, FieldType, ObjectType
from scenario_kit.schema.object_types.kubernetes import resolve_type

Sending = Literal["Whole", "Merge", "Strategic", "Apply", "Status"]

#: Directives of strategic merge patches that name a list, behind a slash.
_OF_LIST: Final = ("$setElementOrder/", "$deleteFromPrimitiveList/")
_PATCH: Final = "$patch"
_RETAIN: Final = "$retainKeys"
_STRATEGIES: Final = ("delete", "merge", "replace")
_STATUS: Final = "status"


@dataclass(frozen=True, slots=True)
class Judging:
    """How a document is sent, the types around the current one, and what is not known of it.

    ``is_open`` tells texts that a template will replace, which fit everywhere.
    """

    sending: Sending = "Whole"
    around: tuple[tuple[Place, ObjectType], ...] = ()
    is_open: Callable[[Any], bool] = lambda _: False

    def enter(self, place: Place, entered: ObjectType) -> Judging:
        """Return the same judging inside an object."""
        return replace(self, around=(*self.around, (place, entered)))

    def send(self, sending: Sending) -> Judging:
        """Return the same judging of a part that is sent otherwise."""
        return self if self.sending == sending else replace(self, sending=sending)


def find_mistakes(document: Any, type_: ObjectType, judging: Judging, place: Place = ()) -> Iterator[FieldMistake]:
    """Yield what is wrong with the fields of an object or a merged document; ``place`` is where it stands."""
    yield from _judge_object(document, type_, judging, place)


def find_field_mistakes(value: Any, field: FieldType, judging: Judging, place: Place) -> Iterator[FieldMistake]:
    """Yield what is wrong with the value of a field, which null leaves empty."""
    if value is None or field.form == "any" or judging.is_open(value):
        return
    if field.form == "object":
        if isinstance(value, Mapping):
            yield from _judge_object(value, resolve_type(field), judging, place)
        else:
            yield report_type(value, field, place)
    elif field.form == "list":
        yield from _judge_list(value, field, judging, place)
    elif field.form == "map":
        yield from _judge_map(value, field, judging, place)
    else:
        yield from find_wrong_value(value, field, place)


def _judge_object(
    document: Mapping[str, Any], type_: ObjectType, judging: Judging, place: Place
) -> Iterator[FieldMistake]:
    if judging.sending == "Strategic" and document.get(_PATCH) in ("replace", "delete"):
        if document[_PATCH] == "delete":
            return
        document = {key: value for key, value in document.items() if key != _PATCH}
        judging = judging.send("Whole")
    inside = judging.enter(place, type_)
    unknown = []
    for name, value in document.items():
        where = (*place, name)
        if judging.is_open(name):
            continue
        if judging.sending == "Strategic" and name.startswith("$"):
            yield from _judge_directive(name, value, type_, where)
        elif (field := type_.fields.get(name)) is None:
            unknown.append(name)
            yield _report_unknown(name, type_, document, inside, where)
        elif name == _STATUS and not place:
            yield from find_field_mistakes(value, field, inside.send("Status"), where)
        else:
            yield from find_field_mistakes(value, field, inside, where)
    if judging.sending == "Whole" and not any(map(judging.is_open, document)):
        yield from _find_missing(document, type_, unknown, place)


def _report_unknown(
    name: str, type_: ObjectType, document: Mapping[str, Any], inside: Judging, where: Place
) -> FieldMistake:
    message = f"`{format_field(where)}` does not exist"
    question, only = suggest_name(name, type_.fields)
    if (elsewhere := join_fields(find_right_level(name, inside.around))) and not only:
        fix = f"move it: `{name}` belongs to {elsewhere}"
        return FieldMistake(where, message, name, elsewhere, fix, of_key=True)
    known = shorten_names(type_.fields)
    free = only if only not in document else ""
    return FieldMistake(where, message, name, known, question or "remove it, or write its name", of_key=True, name=free)


def _find_missing(
    document: Mapping[str, Any], type_: ObjectType, unknown: list[str], place: Place
) -> Iterator[FieldMistake]:
    for name in sorted(type_.required):
        if document.get(name) is None and not any(suggest_name(each, type_.fields)[1] == name for each in unknown):
            here = format_field(place) or "the object"
            yield FieldMistake(
                place, f"`{here}` lacks the required field `{name}`", "none", f"`{name}`", f"add `{name}`"
            )


def _judge_directive(name: str, value: Any, type_: ObjectType, place: Place) -> Iterator[FieldMistake]:
    if name == _PATCH:
        if value not in _STRATEGIES:
            question, only = suggest_name(str(value), _STRATEGIES)
            expected = " or ".join(_STRATEGIES)
            message = f"`{format_field(place)}` must be {expected}"
            yield FieldMistake(
                place, message, str(value), expected, question or f"write {expected}", value=only or NO_VALUE
            )
        return
    if name == _RETAIN:
        named = [(str(each), (*place, i)) for i, each in enumerate(value if isinstance(value, list) else ())]
    elif name.startswith(_OF_LIST):
        named = [(name.partition("/")[2], place)]
    else:
        known = (_PATCH, _RETAIN, *_OF_LIST)
        question, _ = suggest_name(name, known)
        yield FieldMistake(
            place, f"`{name}` is no directive of a strategic merge patch", name, ", ".join(known),
            question or "remove it", of_key=True,
        )  # fmt: skip
        return
    for field, where in named:
        if field not in type_.fields:
            question, _ = suggest_name(field, type_.fields)
            message = f"`{format_field(place)}` names `{field}`, which does not exist"
            yield FieldMistake(
                where, message, field, shorten_names(type_.fields), question or "correct it", of_key=where == place
            )


def _judge_list(value: Any, field: FieldType, judging: Judging, place: Place) -> Iterator[FieldMistake]:
    if not isinstance(value, list | tuple):
        yield report_type(value, field, place)
        return
    assert field.items is not None
    key = field.merge_key if judging.sending in ("Strategic", "Apply") else ""
    keyed = bool(key) and key != SET
    replaced = not keyed or any(isinstance(item, Mapping) and item.get(_PATCH) == "replace" for item in value)
    for i, item in enumerate(value):
        where = (*place, i)
        if not isinstance(item, Mapping) or field.items.form != "object":
            yield from find_field_mistakes(item, field.items, judging, where)
        elif judging.sending == "Strategic" and set(item) == {_PATCH}:
            yield from _judge_directive(_PATCH, item[_PATCH], resolve_type(field.items), (*where, _PATCH))
        elif replaced:
            strategic = judging.sending == "Strategic"
            content = {k: v for k, v in item.items() if not (strategic and k == _PATCH)}
            whole = judging if judging.sending == "Status" else judging.send("Whole")
            yield from find_field_mistakes(content, field.items, whole, where)
        else:
            yield from find_field_mistakes(item, field.items, judging, where)
            yield from _find_missing_key(item, key, field.items, judging, where)


def _find_missing_key(
    item: Mapping[str, Any], key: str, items: FieldType, judging: Judging, place: Place
) -> Iterator[FieldMistake]:
    """Report an entry of a merged list without the key by which it is merged."""
    if item.get(key) is not None or any(map(judging.is_open, item)):
        return
    known = resolve_type(items).fields
    if not any(name not in known and suggest_name(name, known)[1] == key for name in item):
        message = f"`{format_field(place)}` lacks `{key}`, by which the entries of the list are merged"
        yield FieldMistake(place, message, "none", f"`{key}`", f"add `{key}`")


def _judge_map(value: Any, field: FieldType, judging: Judging, place: Place) -> Iterator[FieldMistake]:
    if not isinstance(value, Mapping):
        yield report_type(value, field, place)
        return
    assert field.items is not None
    for name, item in value.items():
        if not (judging.sending == "Strategic" and name in (_PATCH, _RETAIN)):
            yield from find_field_mistakes(item, field.items, judging, (*place, name))
