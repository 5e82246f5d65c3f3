"""Schemas of Chaos Mesh experiments, from the CRDs of the version in the lab.

``ci/chaos-schemas`` generates ``chaos_mesh.json``: the schema of ``spec`` by kind, without descriptions, small enough
for every lint. Objects are closed, since the API server would silently drop unknown fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from scenario_kit.schema.source import Schema

DATA: Final = Path(__file__).with_name("chaos_mesh.json")
#: The kind that starts experiments; defined again, as this layer does not import ``model.chaos.kinds``.
SCHEDULE: Final = "Schedule"
_API_VERSION: Final = "chaos-mesh.org/v1alpha1"


def get_chaos_version() -> str:
    """Return the version of Chaos Mesh whose schemas these are."""
    return str(_load_data()["version"])


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
