"""Load and combine the definitions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from scenario_kit.schema.field_renames import RENAMED_FIELDS

Schema = dict[str, Any]

#: Where the definitions are.
FOLDER = Path(__file__).parent

#: The keyword of expanded schemas for former names of fields.
FORMER_NAMES: Final = "x-former-names"
#: Parts of a fault that are templates.
_TEMPLATED = ("changes", "undo", "effect", "undone", "entities", "solutions", "decoys")
_EXPRESSION: Schema = {"type": "string", "pattern": r"\{[{%]"}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def load_definitions() -> dict[str, Schema]:
    """Load all definitions by name, as written."""
    result: dict[str, Schema] = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        # PyYAML's safe loader, in C if available.
        for name, schema in yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER).items():
            if name in result:
                raise ValueError(f"{path.name} defines '{name}' a second time")
            result[name] = _spell_choice(schema)
    return result


def _spell_choice(schema: Schema) -> Schema:
    """Expand ``exactlyOneBut``: exactly one of the properties is set, not counting those that it names."""
    if "exactlyOneBut" not in schema:
        return schema
    beside, properties = schema.pop("exactlyOneBut"), schema.pop("properties")
    choice = [{"required": [name]} for name in properties if name not in beside]
    return {**schema, "oneOf": choice, "properties": properties}


def expand(schema: Schema) -> Schema:
    """Resolve all references; keywords beside a reference override."""
    if "$ref" in schema:
        name = schema["$ref"]
        base = load_definitions()[name]
        if name in RENAMED_FIELDS:
            base = {**base, FORMER_NAMES: RENAMED_FIELDS[name]}
        return expand({**base, **{k: v for k, v in schema.items() if k != "$ref"}})
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {name: expand(part) for name, part in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            result[key] = expand(schema[key])
    return result


def allow_templates(schema: Schema, restore: Schema | None = None) -> Schema:
    """Return an expanded ``schema`` for a document whose values may be template expressions.

    Parts may have ``when``, changes may be a ``restore``, and omitted references default to the fault's target.
    """
    if schema.get("type") == "object" or "properties" in schema:
        result = dict(schema)
        properties = {name: allow_templates(part, restore) for name, part in schema.get("properties", {}).items()}
        procedure = "changes" in properties and "targets" not in properties
        if properties.keys() & {"removeFault", "generated", "query"} or procedure:
            properties["when"] = {
                "description": "An expression; where it is false this is left out.",
                "anyOf": [{"type": "boolean"}, _EXPRESSION],
            }
        if properties.keys() & {"removeFault", "generated", "query"}:
            properties["forEach"] = {
                "description": "An expression for a list; this stands once for each `item` of it.",
                "anyOf": [{"type": "array", "maxItems": 16}, _EXPRESSION],
            }
        if not properties:
            return {"description": schema.get("description", ""), "anyOf": [schema, _EXPRESSION]}
        if restore is not None and "removeFault" in properties:
            properties["restore"] = restore
            result["oneOf"] = [*schema["oneOf"], {"required": ["restore"]}]
        result["properties"] = properties
        required = [name for name in schema.get("required", ()) if not _is_reference(schema["properties"][name])]
        result.pop("required", None)
        return {**result, "required": required} if required else result
    if schema.get("type") == "array":
        entries = {**schema, "items": allow_templates(schema["items"], restore)}
        if schema["items"].get("type") != "string":
            return entries
        return {"description": schema.get("description", ""), "anyOf": [entries, _EXPRESSION]}
    if "enum" in schema or "pattern" in schema or schema.get("type") in ("integer", "number", "boolean"):
        described = {"description": schema["description"]} if "description" in schema else {}
        return {**described, "anyOf": [schema, _EXPRESSION]}
    return schema


def _is_reference(schema: Schema) -> bool:
    pointers = [str(part.get("$ref", "")) for part in (schema, *schema.get("allOf", ()))]
    pattern = load_definitions()["Reference"]["pattern"]
    return schema.get("pattern") == pattern or any(p.rpartition("/")[2] == "Reference" for p in pointers)


@cache
def build_authoring_schema(name: str) -> Schema:
    """Build the closed schema for validating a kind of file, such as ``Scenario``, ``Fault`` or ``App``."""
    schema = expand(load_definitions()[name])
    if name == "Fault":
        properties = schema["properties"]
        restore = allow_templates(expand({"$ref": "Restore"}))
        schema["properties"] = {k: allow_templates(v, restore) if k in _TEMPLATED else v for k, v in properties.items()}
    if name == "Scenario":  # the API server stores what it holds, and does not look inside
        held = schema["properties"]["spec"]["properties"]["faultTypes"]
        held["items"] = build_authoring_schema("Fault")
    return schema
