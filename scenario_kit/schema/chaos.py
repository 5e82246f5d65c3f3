"""Schemas of Chaos Mesh experiments, from the CRDs of the version in the lab.

``ci/chaos-schemas`` generates ``chaos_mesh.json``: the schema of ``spec`` by kind, without descriptions, small enough
for every lint. Objects are closed, since the API server would silently drop unknown fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from scenario_kit.schema.source import Schema

DATA: Final = Path(__file__).with_name("chaos_mesh.json")
#: The kind that starts experiments; defined again, as this layer does not import ``model.chaos.kinds``.
SCHEDULE: Final = "Schedule"
_API_VERSION: Final = "chaos-mesh.org/v1alpha1"
#: Marks an open object; all others are closed.
_OPEN: Final = "x-kubernetes-preserve-unknown-fields"
_DROPPED: Final = ("description", "default", "example", "format", "title")
#: A Schedule may also start a workflow, whose schema repeats all others and is not supported.
_NO_EXPERIMENT: Final = ("workflow",)
_DURATION: Final = r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"


def list_kinds() -> tuple[str, ...]:
    """Return all kinds that can be created: experiments, and Schedule."""
    return (*sorted(_load_data()["experiments"]), SCHEDULE)


def get_object_schema(kind: str, started: str = "") -> Schema | None:
    """Return the schema of an object; None for an unknown kind.

    Args:
        kind: an experiment or ``Schedule``.
        started: for a Schedule, the kind that it starts.
    """
    data = _load_data()
    if kind == SCHEDULE:
        spec: Schema | None = _schedule(data["schedule"], data["experiments"], started)
    else:
        spec = data["experiments"].get(kind)
    if spec is None:
        return None
    return {
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"type": "string", "enum": [_API_VERSION]},
            "kind": {"type": "string"},
            "metadata": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
            "spec": spec,
        },
    }


def _schedule(own: Schema, experiments: Mapping[str, Schema], started: str) -> Schema:
    """Return the schema of a Schedule, which has the spec of the started kind under a key of its own."""
    names = {key: kind for key in own["x-starts"] for kind in experiments if key.lower() == kind.lower()}
    inner = {key: experiments[kind] for key, kind in names.items() if kind == started}
    kinds_ = {"type": {"type": "string", "enum": sorted(names.values())}}
    closed = {k: v for k, v in own.items() if k != "x-starts"}
    required = [*own["required"], *inner]
    return {**closed, "required": required, "properties": {**own["properties"], **kinds_, **inner}}


@cache
def _load_data() -> dict[str, Any]:
    document: dict[str, Any] = msgspec.json.decode(DATA.read_bytes())
    return document


def condense_definitions(definitions: Iterable[Schema], version: str) -> Schema:
    """Return the content of ``chaos_mesh.json``.

    Args:
        definitions: the CustomResourceDefinitions of Chaos Mesh.
        version: the version of their module.

    Raises:
        ValueError: an experiment has a different schema within a Schedule.
    """
    specs = {d["spec"]["names"]["kind"]: _strip_schema(_get_spec(d)) for d in definitions}
    schedule = specs[SCHEDULE]
    starts = [key for key in schedule["properties"] if key.endswith("Chaos")]
    experiments = {kind: spec for key in starts for kind, spec in specs.items() if kind.lower() == key.lower()}
    for key in starts:
        kind = next(kind for kind in experiments if kind.lower() == key.lower())
        if schedule["properties"][key] != experiments[kind]:
            raise ValueError(f"in a Schedule, {key} has another schema than {kind}")
    own = {k: v for k, v in schedule["properties"].items() if k not in (*starts, *_NO_EXPERIMENT)}
    return {
        "version": version,
        "experiments": experiments,
        "schedule": {**schedule, "properties": own, "x-starts": starts},
    }


def _get_spec(definition: Schema) -> Schema:
    served = next(v for v in definition["spec"]["versions"] if v["name"] == "v1alpha1")
    spec: Schema = served["schema"]["openAPIV3Schema"]["properties"].get("spec", {})
    return spec


def _strip_schema(schema: Schema) -> Schema:
    """Remove descriptions, close objects, and convert OpenAPI keywords to JSON Schema."""
    result: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            result[key] = {name: _strip_schema(part) for name, part in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            result[key] = _strip_schema(value)
        elif key in ("anyOf", "oneOf", "allOf"):
            result[key] = [_strip_schema(part) for part in value]
        elif key not in (*_DROPPED, "nullable", "exclusiveMinimum"):
            result[key] = value
    if schema.get("exclusiveMinimum") is True:
        result["exclusiveMinimum"] = result.pop("minimum")
    if "properties" in result and not schema.get(_OPEN) and "additionalProperties" not in result:
        result["additionalProperties"] = False
    if result.get("properties", {}).get("duration") == {"type": "string"}:
        # The manager parses it with Go's parser, which the CRD does not express.
        result["properties"]["duration"] = {"type": "string", "pattern": _DURATION}
    return {"anyOf": [result, {"type": "null"}]} if schema.get("nullable") else result
