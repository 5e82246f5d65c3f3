"""Schemas for editors (yaml-language-server): JSON Schema draft 7 with references."""

from __future__ import annotations

from scenario_kit.schema.source import Schema, allow_templates, load_definitions


def build_editor_schema(name: str) -> Schema:
    """Build the self-contained schema of one kind of file."""
    used: dict[str, Schema] = {}
    root = _make_portable(load_definitions()[name], used)
    if name == "Fault":  # mostly templates
        restore = _make_portable({"$ref": "Restore"}, used)
        used = {part: allow_templates(schema, restore) for part, schema in used.items()}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": f"https://scenariokit.io/schema/{name.lower()}.schema.json",
        "title": name,
        **root,
        "definitions": dict(sorted(used.items())),
    }


def _make_portable(schema: Schema, used: dict[str, Schema]) -> Schema:
    """Convert bare names to pointers, wrapped in `allOf` because draft 7 ignores siblings of a reference."""
    if "$ref" in schema:
        name = schema["$ref"]
        if name not in used:
            used[name] = {}
            used[name] = _make_portable(load_definitions()[name], used)
        pointer = {"$ref": f"#/definitions/{name}"}
        beside = {k: v for k, v in schema.items() if k != "$ref"}
        return {**beside, "allOf": [pointer]} if beside else pointer
    result = {k: v for k, v in schema.items() if not k.startswith("x-kubernetes-")}
    if "properties" in schema:
        result["properties"] = {name: _make_portable(part, used) for name, part in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            result[key] = _make_portable(schema[key], used)
    return result
