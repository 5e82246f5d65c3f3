"""Find contradictions in schemas of parameters and options: no value, or not its own default, would be valid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from scenario_kit.load.schema.schemas import DATA_KEYWORDS, find_violations
from scenario_kit.model.authored.parameter_lookup import KEYWORD
from scenario_kit.model.json_document import Place
from scenario_kit.model.spelling import did_you_mean, suggest

#: Pairs of a lower and an upper bound; the last two exclude the bound itself.
_BOUNDS: Final = (
    ("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties"),
    ("minContains", "maxContains"), ("exclusiveMinimum", "maximum"), ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
)  # fmt: skip
#: Keywords of draft 2020-12 that parameters and options may have, and the kit's own.
_KEYWORDS: Final = frozenset(
    {
        "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
        "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains",
        "maxProperties", "minProperties", "required", "dependentRequired", "properties", "additionalProperties",
        "propertyNames", "items", "prefixItems", "contains", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
        "title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "format",
        "contentEncoding", "contentMediaType", "contentSchema", KEYWORD, "x-choices", "x-requires",
    }
)  # fmt: skip
#: How similar an unknown keyword is to the one that was meant; less is an annotation.
_MISSPELT: Final = 0.93
#: Maximum number of reported contradictions.
_MOST: Final = 20


class Contradiction(NamedTuple):
    """A contradiction: its place in the schema, the message, and the fix."""

    place: Place
    message: str
    fix: str


def find_contradictions(schema: Any) -> list[Contradiction]:
    """Return the contradictions of a valid schema, up to a limit."""
    return list(islice(_find_in_schema(schema, ()), _MOST))


def _find_in_schema(schema: Any, place: Place) -> Iterator[Contradiction]:
    if isinstance(schema, list):
        for i, part in enumerate(schema):
            yield from _find_in_schema(part, (*place, i))
    if not isinstance(schema, dict):
        return
    yield from _find_misspelt(schema, place)
    yield from _find_reversed(schema, place)
    yield from _find_empty(schema, place)
    yield from _find_invalid_default(schema, place)
    for name, part in schema.items():
        if name in ("properties", "$defs") and isinstance(part, dict):
            for field, inner in part.items():
                yield from _find_in_schema(inner, (*place, name, field))
        elif name not in DATA_KEYWORDS:
            yield from _find_in_schema(part, (*place, name))


def _find_misspelt(schema: Mapping[str, Any], place: Place) -> Iterator[Contradiction]:
    for name in schema:
        known = [keyword for keyword in _KEYWORDS if keyword.startswith("x-") == name.startswith("x-")]
        if name not in _KEYWORDS and (meant := suggest(name, known, least=_MISSPELT)):
            message = f"`{name}` is not a keyword of JSON Schema, so it has no effect"
            yield Contradiction((*place, name), message, did_you_mean(name, meant))


def _find_reversed(schema: Mapping[str, Any], place: Place) -> Iterator[Contradiction]:
    for lower, upper in _BOUNDS:
        least, most = schema.get(lower), schema.get(upper)
        if least is None or most is None:
            continue
        exclusive = lower.startswith("exclusive") or upper.startswith("exclusive")
        if least > most or (exclusive and least == most):
            message = f"no value is valid: `{lower}` is {least}, and `{upper}` {most}"
            yield Contradiction((*place, lower), message, "exchange the two, or correct one of them")


def _find_empty(schema: Mapping[str, Any], place: Place) -> Iterator[Contradiction]:
    values = schema.get("enum")
    if values == []:
        yield Contradiction((*place, "enum"), "no value is valid: `enum` is empty", "list the values")
    elif isinstance(values, list):
        for i, value in enumerate(values):
            if any(value == earlier and type(value) is type(earlier) for earlier in values[:i]):
                message = f"`enum` lists {value!r} twice"
                yield Contradiction((*place, "enum", i), message, "remove one of them, or correct it")
    fields: Mapping[str, Any] = schema.get("properties") or {}
    for i, name in enumerate(schema.get("required") or () if schema.get("additionalProperties") is False else ()):
        if name not in fields:
            message = f"no value is valid: `required` names '{name}', which is not in `properties`"
            yield Contradiction((*place, "required", i), message, did_you_mean(str(name), fields))


def _find_invalid_default(schema: Mapping[str, Any], place: Place) -> Iterator[Contradiction]:
    default = schema.get("default")
    if default is None or _has_template(default):
        return
    found = find_violations(default, dict(schema))
    if found:
        message = f"the default is not valid itself: {found[0].message}"
        yield Contradiction((*place, "default", *found[0].place), message, "correct the default, or what it must be")


def _has_template(value: Any) -> bool:
    """Return whether a value is known only when it is rendered."""
    if isinstance(value, str):
        return "{{" in value or "{%" in value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_has_template(part) for part in parts)
