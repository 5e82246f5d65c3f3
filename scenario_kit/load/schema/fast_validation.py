"""Validate documents without jsonschema, which takes longer to import than to validate most files.

It supports the keywords that our schemas use. Other keywords, and all invalid documents, are left to `validation`,
which supports all of JSON Schema and explains errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scenario_kit.model.re2 import compile_pattern

_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "null": lambda v: v is None,
}


_LIMITS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "minimum": lambda v, limit: not _is_number(v) or v >= limit,
    "maximum": lambda v, limit: not _is_number(v) or v <= limit,
    "exclusiveMinimum": lambda v, limit: not _is_number(v) or v > limit,
    "minLength": lambda v, limit: not isinstance(v, str) or len(v) >= limit,
    "maxLength": lambda v, limit: not isinstance(v, str) or len(v) <= limit,
    "minItems": lambda v, limit: not isinstance(v, list) or len(v) >= limit,
    "maxItems": lambda v, limit: not isinstance(v, list) or len(v) <= limit,
    "minProperties": lambda v, limit: not isinstance(v, dict) or len(v) >= limit,
    "maxProperties": lambda v, limit: not isinstance(v, dict) or len(v) <= limit,
    "pattern": lambda v, desired: not isinstance(v, str) or compile_pattern(desired).found_in(v),
    "enum": lambda v, desired: any(v == w and isinstance(v, bool) == isinstance(w, bool) for w in desired),
}
#: Annotations, without an effect on validity.
_SILENT: Final = frozenset({"description", "title", "default", "examples", "format", "fieldPath", "nullable"})


def fits(value: Any, schema: Any) -> bool:
    """Return whether a value is certainly valid; False if it is not, or a keyword is unknown here."""
    if not isinstance(schema, dict):
        return bool(schema is True)
    for keyword, desired in schema.items():
        if keyword in _SILENT or keyword.startswith("x-"):
            continue
        if keyword in _LIMITS:
            if not _LIMITS[keyword](value, desired):
                return False
        elif not _fits(value, schema, keyword, desired):
            return False
    return True


def _fits(value: Any, schema: dict[str, Any], keyword: str, desired: Any) -> bool:
    match keyword:
        case "type":
            return isinstance(desired, str) and desired in _TYPES and _TYPES[desired](value)
        case "required":
            return not isinstance(value, dict) or all(name in value for name in desired)
        case "properties":
            return not isinstance(value, dict) or all(fits(value[n], part) for n, part in desired.items() if n in value)
        case "additionalProperties":
            if not isinstance(value, dict) or desired is True:
                return True
            more = value.keys() - schema.get("properties", {}).keys()
            return not more if desired is False else all(fits(value[name], desired) for name in more)
        case "items":
            return not isinstance(value, list) or all(fits(item, desired) for item in value)
        case "oneOf":
            return sum(fits(value, part) for part in desired) == 1 and _has_known_keywords(desired)
        case "anyOf":
            return any(fits(value, part) for part in desired)
        case _:
            return False


def _has_known_keywords(schemas: list[Any]) -> bool:
    """Return whether all keywords are known: a branch of ``oneOf`` may count as invalid only in that case."""
    return all(isinstance(s, dict) and s.keys() <= {"required", "type", *_LIMITS} for s in schemas)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
