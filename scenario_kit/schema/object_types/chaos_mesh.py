"""The types of Chaos Mesh objects, from the schemas of its CRDs."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from scenario_kit.schema.chaos import get_object_schema
from scenario_kit.schema.object_types.field_type import ANY, FieldType, Form, ObjectType
from scenario_kit.schema.source import Schema

_METADATA: Final = FieldType("object", type="meta.v1.ObjectMeta")
_FORMS: Final[dict[str, Form]] = {
    "string": "string", "integer": "integer", "number": "number", "boolean": "boolean",
}  # fmt: skip


@cache
def find_chaos_type(kind: str, started: str = "") -> ObjectType | None:
    """Return the type of an experiment, or of a Schedule that starts a kind; None for an unknown kind."""
    schema = get_object_schema(kind, started)
    if schema is None:
        return None
    found = _convert_object(schema)
    # Its status is of the manager, which no schema here describes.
    return found._replace(fields={**found.fields, "metadata": _METADATA, "status": ANY})


def _convert_object(schema: Schema) -> ObjectType:
    fields = {name: _convert_field(part) for name, part in schema.get("properties", {}).items()}
    return ObjectType(fields, frozenset(schema.get("required", ())))


def _convert_field(schema: Schema) -> FieldType:
    if "anyOf" in schema and "type" not in schema:  # nullable
        return _convert_field(schema["anyOf"][0])
    kind: Any = schema.get("type")
    if kind == "array":
        return FieldType("list", items=_convert_field(schema.get("items", {})))
    if kind == "object" and schema.get("properties") and schema.get("additionalProperties") is False:
        return FieldType("object", type=_convert_object(schema))
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return FieldType("map", items=_convert_field(schema["additionalProperties"]))
    if kind not in _FORMS or schema.get("x-kubernetes-int-or-string"):
        return ANY
    return FieldType(_FORMS[kind], enum=tuple(map(str, schema.get("enum", ()))))
