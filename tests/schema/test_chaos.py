"""The shipped schemas of Chaos Mesh: those of the version that the lab runs, closed, one for each experiment."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.toolchain import assets
from scenario_kit.lab.toolchain.components import CHAOS_MESH
from scenario_kit.load.schema.fast_validation import fits
from scenario_kit.model.chaos.kinds import SCHEDULE, schedule_key
from scenario_kit.schema.chaos import DATA, get_object_schema, list_kinds
from tools.chaos.schema_condenser import condense_definitions, condense_schemas

PODS = {"mode": "all", "selector": {"labelSelectors": {"app": "cart"}}}


def manifest(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}


def test_schemas_match_the_installed_chaos_mesh() -> None:
    try:
        folder = assets.resolve()
    except ToolchainError as error:
        pytest.skip(f"{error.message}; {error.fix}")
    assert DATA.read_text(encoding="utf-8") == condense_schemas(folder), "run ci/chaos-schemas"


def test_schemas_have_the_pinned_version() -> None:
    assert json.loads(DATA.read_text(encoding="utf-8"))["version"] == CHAOS_MESH


@pytest.mark.parametrize("kind", list_kinds())
def test_every_chaos_schema_is_valid(kind: str) -> None:
    schema = get_object_schema(kind, "PodChaos")
    assert schema is not None
    Draft202012Validator.check_schema(schema)
    assert schema["properties"]["spec"]["additionalProperties"] is False


@pytest.mark.parametrize(
    ("made", "valid"),
    [
        (manifest("PodChaos", action="pod-failure", **PODS), True),
        (manifest("PodChaos", action="pod-failure", duration="1h30m", **PODS), True),
        (manifest("PodChaos", action="pod-failure", duration="90", **PODS), False),
        (manifest("PodChaos", action="pod-fail", **PODS), False),
        (manifest("PodChaos", action="pod-failure", container="a", **PODS), False),
        (manifest("PodChaos", action="pod-failure", mode="all"), False),
        (manifest("NetworkChaos", action="delay", delay={"latency": "1s"}, direction="to", **PODS), True),
        (manifest("NetworkChaos", action="delay", delay={"latency": 1}, **PODS), False),
        (manifest("HTTPChaos", target="Request", port=8080, abort=True, **PODS), True),
        (manifest("HTTPChaos", target="Request", port="8080", abort=True, **PODS), False),
        (manifest(SCHEDULE, schedule="@every 60s", type="PodChaos", podChaos={"action": "pod-kill", **PODS}), True),
        (manifest(SCHEDULE, schedule="@every 60s", type="PodChaos"), False),
        (manifest(SCHEDULE, schedule="@every 60s", type="PodChaos", podChaos={"action": "kill", **PODS}), False),
        (manifest(SCHEDULE, schedule="@every 60s", type="Pod"), False),
        (manifest(SCHEDULE, schedule="@every 60s", type="PodChaos", podChaos=PODS, historyLimit=0), False),
    ],
)
def test_chaos_schema_accepts_valid_specs_only(made: dict[str, Any], valid: bool) -> None:
    schema = get_object_schema(made["kind"], str(made["spec"].get("type", "")))

    assert fits(made, schema) is valid
    assert Draft202012Validator(schema).is_valid(made) is valid


def test_unknown_kind_has_no_schema() -> None:
    assert get_object_schema("PodChoas") is None


def test_schedule_schema_has_every_experiment_key() -> None:
    odd = {"PhysicalMachineChaos": "physicalmachineChaos"}
    for kind in list_kinds():
        if kind != SCHEDULE:
            schema = get_object_schema(SCHEDULE, kind)
            assert schema is not None
            assert odd.get(kind, schedule_key(kind)) in schema["properties"]["spec"]["required"]


def definition(kind: str, properties: dict[str, Any]) -> dict[str, Any]:
    spec = {"type": "object", "properties": properties, "required": []}
    version = {"name": "v1alpha1", "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}}
    return {"spec": {"names": {"kind": kind}, "versions": [version]}}


def test_openapi_keywords_become_json_schema() -> None:
    own = {
        "n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "nullable": True, "description": "text"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {}},
        "map": {"type": "object", "additionalProperties": {"type": "string", "description": "text"}},
    }
    inner = {"type": "object", "properties": own, "required": []}
    made = condense_definitions(
        [definition("PodChaos", own), definition(SCHEDULE, {"podChaos": inner, "workflow": {}})], "1"
    )

    assert made["experiments"]["PodChaos"] == {
        "type": "object",
        "required": [],
        "additionalProperties": False,
        "properties": {
            "n": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    }
    assert made["schedule"]["x-starts"] == ["podChaos"]
    assert "workflow" not in made["schedule"]["properties"]


def test_unknown_schedule_experiment_is_refused() -> None:
    inner = {"type": "object", "properties": {"other": {"type": "string"}}, "required": []}
    with pytest.raises(ValueError, match="podChaos"):
        condense_definitions([definition("PodChaos", {}), definition(SCHEDULE, {"podChaos": inner})], "1")
