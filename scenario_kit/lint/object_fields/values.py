"""Judge values that are neither objects nor lists."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from scenario_kit.lint.object_fields.mistake import NO_VALUE, FieldMistake, format_field, suggest_name
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.quantity import parse_exact
from scenario_kit.model.shortening import cut_text
from scenario_kit.schema.object_types.field_type import FieldType

_WORDS: Final = {
    "base64": "text in base64", "boolean": "true or false", "integer": "an integer",
    "intOrString": "an integer or text", "list": "a list", "map": "a mapping", "number": "a number",
    "object": "a mapping", "quantity": "a quantity such as 250m or 64Mi", "string": "text",
}  # fmt: skip
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}")
_SHOWN: Final = 60


def find_wrong_value(value: Any, field: FieldType, place: Place) -> Iterator[FieldMistake]:
    """Yield what is wrong with a scalar, or with a value where a scalar belongs."""
    if not _fits(value, field.form):
        yield report_type(value, field, place)
    elif field.enum and value and value not in field.enum:  # the empty text counts as absent
        question, only = suggest_name(str(value), field.enum)
        expected = " or ".join(field.enum)
        message = f"`{format_field(place)}` must be {expected}"
        yield FieldMistake(
            place, message, _show(value), expected, question or f"write one of {expected}", value=only or NO_VALUE
        )


def report_type(value: Any, field: FieldType, place: Place) -> FieldMistake:
    """Report a value of a wrong type."""
    expected = _WORDS[field.form]
    meant = _convert(value, field)
    fix = f"write {_show(meant)}" if meant is not NO_VALUE else f"write {expected}"
    return FieldMistake(
        place, f"`{format_field(place)}` must be {expected}", _describe(value), expected, fix, value=meant
    )


def _fits(value: Any, form: str) -> bool:
    if form == "any":
        return True
    if form == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if form == "quantity":
        return _is_quantity(value)
    if form == "intOrString":
        return isinstance(value, int | str)
    if form == "base64":
        return isinstance(value, str) and _is_base64(value)
    return isinstance(value, {"string": str, "integer": int, "number": int | float}.get(form, ()))


def _is_quantity(value: Any) -> bool:
    try:
        parse_exact(value)
    except (ValueError, ArithmeticError):
        return False
    return isinstance(value, int | float | str)


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _convert(value: Any, field: FieldType) -> Any:
    """Return the value that is meant, if its text says so in another type."""
    if field.form == "integer" and isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    if field.form == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if field.form == "boolean" and value in ("true", "false"):
        return value == "true"
    if field.form == "string" and isinstance(value, int | float) and not field.enum:
        return json.dumps(value)
    if field.form == "list" and isinstance(value, dict) and field.items and field.items.form == "object":
        return [value]
    return NO_VALUE


def _describe(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    return f"the text {_show(value)}" if isinstance(value, str) else _show(value)


def _show(value: Any) -> str:
    return cut_text(json.dumps(value, ensure_ascii=False), _SHOWN)
