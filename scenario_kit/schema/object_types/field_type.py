"""Types of fields, and of objects with such fields.

``kubernetes.json`` writes the type of a field as one word:

* ``string``, ``integer``, ``number``, ``boolean``, ``quantity``, ``intOrString``, ``base64``, ``any``;
* ``=A|B`` for one of these texts;
* ``@core.v1.Pod`` for an object of that type;
* ``{}W`` for a mapping of any names to values of type ``W``;
* ``[]W`` for a list that patches replace, ``[name]W`` for one that strategic merge patches merge by that key, and
  ``[=]W`` for one that they merge as a set.

The name of a required field ends with ``*``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, cast

Form = Literal[
    "any", "base64", "boolean", "integer", "intOrString", "list", "map", "number", "object", "quantity", "string"
]

#: The merge key of a list that strategic merge patches merge as a set.
SET: Final = "="


class ObjectType(NamedTuple):
    """The fields of an object, and which of them it must have."""

    fields: Mapping[str, FieldType]
    required: frozenset[str] = frozenset()


class FieldType(NamedTuple):
    """What a field may hold.

    Attributes:
        form: the JSON type, or a form of text.
        items: the type of a list's items, or of a mapping's values.
        type: the type of an object; of Kubernetes' types, the name.
        enum: the only texts that are allowed; empty if all are.
        merge_key: the key by which strategic merge patches merge a list; empty if they replace it.
    """

    form: Form
    items: FieldType | None = None
    type: ObjectType | str = ""
    enum: tuple[str, ...] = ()
    merge_key: str = ""


ANY: Final = FieldType("any")


def parse_word(word: str) -> FieldType:
    """Parse the word of a field's type."""
    first = word[0]
    if first == "@":
        return FieldType("object", type=word[1:])
    if first == "=":
        return FieldType("string", enum=tuple(word[1:].split("|")))
    if first == "{":
        return FieldType("map", items=parse_word(word[2:]))
    if first == "[":
        key, _, rest = word[1:].partition("]")
        return FieldType("list", items=parse_word(rest), merge_key=key)
    return FieldType(cast(Form, word))


def parse_fields(words: Mapping[str, str]) -> ObjectType:
    """Parse the fields of a type."""
    fields = {name.rstrip("*"): parse_word(word) for name, word in words.items()}
    return ObjectType(fields, frozenset(name[:-1] for name in words if name.endswith("*")))
