"""Look up a field of a format by path, for `explain spec.expect.alerts`."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from scenario_kit.schema.source import Schema, build_authoring_schema

#: The formats, in lookup order.
FORMATS: Final = {
    "Scenario": "scenario.yaml",
    "Fault": "fault.yaml",
    "App": "app.yaml",
    "Plan": "a plan",
    "Pack": "an alert pack",
}
_INDEX: Final = re.compile(r"\[\d*\]")
_LIMITS: Final = (
    ("minimum", "at least {}"), ("maximum", "at most {}"), ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"), ("minItems", "at least {} of them"), ("maxItems", "at most {} of them"),
)  # fmt: skip


class SchemaField(NamedTuple):
    """A field: its format, path and schema, and whether it is required."""

    format: str
    path: str
    schema: Schema
    required: bool


class NoField(NamedTuple):
    """A failed lookup: the path that exists, the missing name, and the known fields."""

    format: str
    path: str
    name: str
    known: tuple[str, ...]


def split_path(path: str) -> list[str]:
    """Return the names in a path, without list indices."""
    return [part for part in _INDEX.sub("", path).strip(".").split(".") if part and not part.isdecimal()]


def find_field(path: str) -> SchemaField | NoField:
    """Look up a field in the format that the path begins with (``Scenario.spec``), else in the first that has it."""
    parts = split_path(path)
    named = next((name for name in FORMATS if parts and parts[0] == name), None)
    if named is not None:
        return _walk(named, parts[1:])
    found = [_walk(name, parts) for name in FORMATS]
    return next(
        (f for f in found if isinstance(f, SchemaField)), max(found, key=lambda f: f.path.count(".") + bool(f.path))
    )


def find_fields(name: str) -> list[str]:
    """Return the paths of a scenario's fields with this name, shortest first."""
    found = [path for path in list_paths("Scenario") if path.split(".")[-1] == name]
    return sorted(found, key=lambda path: (path.count("."), path))


def render_field_page(field: SchemaField) -> str:
    """Format the description of a field as text."""
    schema, below = field.schema, _list_below(field.schema)
    entry = schema.get("items", {})
    kind = _describe_kind(schema)
    state = "required" if field.required else _format_default(schema)
    lines = [f"{field.path or field.format} ({FORMATS[field.format]})", ""]
    lines += [f"  {schema.get('description', '')}".rstrip(), "", f"  type: {kind}" + (f", {state}" if state else "")]
    values = schema.get("enum") or entry.get("enum")
    if values:
        lines.append("  one of: " + ", ".join(str(value) for value in values if value != ""))
    if limits := [text.format(schema[key]) for key, text in _LIMITS if key in schema]:
        lines.append(f"  limits: {', '.join(limits)}")
    if "pattern" in schema:
        lines.append(f"  matches: {schema['pattern']}")
    for part in (schema, entry):
        if names := [b["required"][0] for b in part.get("oneOf", ()) if b.get("required")]:
            lines.append(f"  exactly one of: {', '.join(names)}")
    return "\n".join(lines) + ("\n" if below else "")


def list_rows_below(field: SchemaField) -> list[tuple[str, str, str]]:
    """Return name, type and description of each field below one."""
    required = {*field.schema.get("required", ()), *field.schema.get("items", {}).get("required", ())}
    return [
        (
            name + ("*" if name in required else ""),
            _describe_kind(part),
            f"{part.get('description', '')} {_format_values(part)}".rstrip(),
        )
        for name, part in _list_below(field.schema).items()
    ]


def _format_values(schema: Schema) -> str:
    values = [str(value) for value in (schema.get("enum") or ()) if value != ""]
    return f"One of: {', '.join(values)}." if values else ""


def _walk(format: str, parts: list[str]) -> SchemaField | NoField:
    schema, required = build_authoring_schema(format), True
    for i, part in enumerate(parts):
        below = _list_below(schema)
        if part not in below:
            return NoField(format, ".".join(parts[:i]), part, tuple(below))
        names = (*schema.get("required", ()), *schema.get("items", {}).get("required", ()))
        schema, required = below[part], part in names
    return SchemaField(format, ".".join(parts), schema, required)


def _list_below(schema: Schema) -> dict[str, Any]:
    """Return the fields of an object, of a list's entries, or of a map's values."""
    for part in (schema, *schema.get("anyOf", ())[:1]):
        for inner in (part, part.get("items"), part.get("additionalProperties")):
            if isinstance(inner, dict) and inner.get("properties"):
                properties: dict[str, Any] = inner["properties"]
                return properties
    return {}


def list_paths(format: str) -> list[str]:
    """Return the paths of all fields of a format, breadth first."""
    found, waiting = [], [("", build_authoring_schema(format))]
    while waiting:
        path, schema = waiting.pop(0)
        for name, part in _list_below(schema).items():
            found.append(f"{path}.{name}".lstrip("."))
            if found[-1].count(".") < 8:
                waiting.append((found[-1], part))
    return found


def _describe_kind(schema: Schema) -> str:
    whole = {**schema, **(schema.get("anyOf") or [{}])[0]}
    if whole.get("type") == "array":
        return f"list of {_describe_kind(whole.get('items', {}))}"
    if isinstance(whole.get("additionalProperties"), dict):
        return f"map of {_describe_kind(whole['additionalProperties'])}"
    return {"string": "text", "boolean": "true or false"}.get(
        str(whole.get("type", "any")), str(whole.get("type", "any"))
    )


def _format_default(schema: Schema) -> str:
    default = schema.get("default")
    if default in (None, [], {}, ""):
        return ""
    shown = ", ".join(map(str, default)) if isinstance(default, list) else str(default)
    return f"default {shown.lower() if isinstance(default, bool) else shown}"
