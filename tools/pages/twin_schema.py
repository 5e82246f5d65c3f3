"""The editor schema of ``twin.yaml``: JSON Schema draft 7, generated from its types."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

import msgspec

from scenario_kit.model import Object
from scenario_kit.model.twin import TwinDocument
from scenario_kit.model.twin.decode import ASSUMED
from tools.pages.twin_reference import list_fields, list_twin_types

_POINTER: Final = "#/definitions/"
#: Suffix of types in a version's section, where every field is optional.
_PART: Final = "Part"
_VERSIONS: Final = "Settings of single versions of the app, by version, merged over the rest; lists are replaced."
_ASSUMED: Final = {"type": "string", "pattern": f"^{ASSUMED.pattern}$"}


def build_twin_schema() -> Object:
    """Build the schema as a single document."""
    _, written = msgspec.json.schema_components([TwinDocument], ref_template=_POINTER + "{name}")
    known = {name: _make_portable(schema) for name, schema in written.items()}
    _add_units(known)
    parts: dict[str, Object] = {}
    _lay_over(TwinDocument.__name__, known, parts)
    root = known.pop(TwinDocument.__name__)
    required = root.pop("required")
    overlay = {"$ref": f"{_POINTER}{TwinDocument.__name__}{_PART}"}
    versions = {"description": _VERSIONS, "type": "object", "additionalProperties": overlay}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://scenariokit.io/schema/twin.schema.json",
        **root,
        "title": "Twin",
        "properties": {**root["properties"], "versions": versions},
        "anyOf": [{"required": required}, {"required": ["versions"]}],
        "definitions": dict(sorted({**known, **parts}.items())),
    }


def _make_portable(schema: Any) -> Any:
    """Convert to draft 7, with its form of pairs and no siblings of ``$ref``; allow assumptions for numbers."""
    if isinstance(schema, list):
        return [_make_portable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: part if key == "default" else _make_portable(part) for key, part in schema.items()}
    if "description" in result and isinstance(result["description"], str):
        result["description"] = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(result["description"]))
    if "prefixItems" in result:
        result["items"], result["additionalItems"] = result.pop("prefixItems"), False
    beside = {key: result.pop(key) for key in ("description", "default") if key in result}
    if result.get("type") in ("number", "integer"):
        result = {"anyOf": [result, _ASSUMED]}
    elif "$ref" in result and beside:
        result = {"allOf": [result]}
    return {**beside, **result}


def _add_units(known: dict[str, Object]) -> None:
    for kind in list_twin_types():
        for field in list_fields(kind):
            if field.unit:
                known[kind.__name__]["properties"][field.name]["description"] += f" Unit: {field.unit}."


def _lay_over(name: str, known: dict[str, Object], parts: dict[str, Object]) -> None:
    """Add the partial definition of a type: the type with all fields optional."""
    if name + _PART in parts:
        return
    parts[name + _PART] = {}
    whole = known[name]
    properties = {key: _make_partial(schema, known, parts) for key, schema in whole["properties"].items()}
    parts[name + _PART] = {key: part for key, part in whole.items() if key != "required"} | {"properties": properties}


def _make_partial(schema: Any, known: dict[str, Object], parts: dict[str, Object]) -> Any:
    """Build the schema of an overlay; lists replace the original and must be complete."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_POINTER)
        _lay_over(name, known, parts)
        return {**schema, "$ref": f"{_POINTER}{name}{_PART}"}
    result = dict(schema)
    for key in ("allOf", "anyOf"):
        if key in schema:
            result[key] = [_make_partial(part, known, parts) for part in schema[key]]
    if isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = _make_partial(schema["additionalProperties"], known, parts)
    return result
