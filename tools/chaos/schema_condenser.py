"""Condenses the CRDs of the installed Chaos Mesh into the schemas that lint ships."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import yaml

from scenario_kit.lab.toolchain.assets import CRDS
from scenario_kit.lab.toolchain.components import CHAOS_MESH
from scenario_kit.schema.chaos import SCHEDULE
from scenario_kit.schema.source import Schema

#: Their schemas repeat those of all experiments, and lint does not use them.
_REPEATING = ("workflows", "workflownodes")

#: Marks an open object; all others are closed.
_OPEN: Final = "x-kubernetes-preserve-unknown-fields"
_DROPPED: Final = ("description", "default", "example", "format", "title")
#: A Schedule may also start a workflow, whose schema repeats all others and is not supported.
_NO_EXPERIMENT: Final = ("workflow",)
_DURATION: Final = r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"


def condense_schemas(folder: Path) -> str:
    """Return the text of ``chaos_mesh.json``: one line per kind, which keeps diffs between versions readable.

    Args:
        folder: the Chaos Mesh assets, with ``crds/``.
    """
    files = sorted(p for p in (folder / CRDS).glob("*.yaml") if not p.stem.endswith(_REPEATING))
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    definitions = [yaml.load(path.read_text(encoding="utf-8"), Loader=loader) for path in files]
    document = condense_definitions(definitions, CHAOS_MESH)
    lines = [f"{_condense(kind)}: {_condense(spec)}" for kind, spec in sorted(document["experiments"].items())]
    parts = [
        f'"version": {_condense(document["version"])}',
        '"experiments": {\n' + ",\n".join(lines) + "\n}",
        f'"schedule": {_condense(document["schedule"])}',
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _condense(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


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
