"""Rules about the schemas, and about generated files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.load.yaml.document import read_document
from scenario_kit.schema import Schema, build_authoring_schema, expand, load_definitions
from scenario_kit.schema.editor import build_editor_schema
from scenario_kit.schema.install import build_access
from tools.pages.crd import KINDS, build_crd
from tools.pages.reference_page import render_reference_page

ROOT = Path(__file__).parent.parent.parent


def fields(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    for name, part in schema.get("properties", {}).items():
        yield f"{path}.{name}", part
        yield from fields(part, f"{path}.{name}")
    if isinstance(schema.get("items"), dict):
        yield f"{path}[]", schema["items"]
        yield from fields(schema["items"], f"{path}[]")
    for branch in schema.get("anyOf", ()):
        yield from fields(branch, path)


@pytest.mark.parametrize("name", sorted(load_definitions()))
def test_every_field_is_described_and_bounded(name: str) -> None:
    schema = expand(load_definitions()[name])
    assert schema["description"]
    for path, part in fields(schema, name):
        assert part.get("description"), path
        if part.get("type") == "array":
            assert "maxItems" in part, path
        if part.get("type") == "string" and "enum" not in part and "format" not in part and "labels" not in path:
            assert "maxLength" in part or "pattern" in part, path
        if part.get("type") == "object" and "properties" in part:
            assert part["additionalProperties"] is False, path


@pytest.mark.parametrize("name", sorted(load_definitions()))
def test_every_keyword_has_a_value(name: str) -> None:
    """A comma in a plain text of a flow mapping would end the text and begin a keyword."""
    for path, part in (("", load_definitions()[name]), *fields(load_definitions()[name], name)):
        assert None not in part.values(), path


def test_reference_page_has_every_reachable_definition() -> None:
    page = render_reference_page("Catalogue", "…", ("App",))
    for name in ("LoadProfile", "AppVersion", "Component", "CallEdge", "LoadKnob", "FlagTrait", "StoreEffect"):
        assert f"\n## {name}\n" in page
    assert "| `versions` | map of [AppVersion](#appversion) | required |" in page


@pytest.mark.parametrize("name", sorted(load_definitions()))
def test_enums_are_pascal_case(name: str) -> None:
    for path, part in fields(expand(load_definitions()[name]), name):
        exempt = path.endswith((".apiVersion", ".domain", ".twin", "Step.kind", "steps[].kind"))
        for value in () if exempt else part.get("enum", ()):
            assert value == "" or value[0].isupper(), path


@pytest.mark.parametrize("name", ["Scenario", "Fault", "App", "Plan"])
def test_authoring_schemas_are_valid_json_schemas(name: str) -> None:
    Draft202012Validator.check_schema(build_authoring_schema(name))
    Draft7Validator.check_schema(build_editor_schema(name))


@pytest.mark.parametrize(("family", "name"), [("scenarios", "Scenario"), ("faults", "Fault"), ("apps", "App")])
def test_editors_accept_the_catalogue(family: str, name: str) -> None:
    files = sorted((find_data_root() / "catalog" / family).glob(f"*/{name.lower()}.yaml"))
    assert files
    for path in files:
        assert not list(Draft7Validator(build_editor_schema(name)).iter_errors(read_document(path).data)), path


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_crds_are_structural(kind: str) -> None:
    version = build_crd(kind)["spec"]["versions"][0]
    assert version["subresources"] == {"status": {}}
    for path, part in fields(version["schema"]["openAPIV3Schema"], kind):
        assert not {"$ref", "additionalProperties", "default", "uniqueItems"} & set(part) or _map_of_text(part), path
        assert "type" in part or part.get("x-kubernetes-preserve-unknown-fields"), path
        if part.get("type") == "array":
            assert part["x-kubernetes-list-type"] in ("atomic", "map", "set"), path
        for key in part.get("x-kubernetes-list-map-keys", ()):
            assert key in part["items"]["required"], path
        for branch in part.get("oneOf", ()):
            assert set(branch) == {"required"}, path


def _map_of_text(part: dict[str, Any]) -> bool:
    return isinstance(part.get("additionalProperties"), dict)


def test_former_names_are_kept_and_refused() -> None:
    spec = build_crd("Scenario")["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    alert = spec["properties"]["expect"]["properties"]["alerts"]["items"]
    event = spec["properties"]["expect"]["properties"]["checks"]["items"]["properties"]["event"]

    for old in ("on", "true"):
        (rule,) = alert["properties"][old]["x-kubernetes-validations"]
        assert rule["rule"] == "false"
        assert "is now `entity`" in rule["message"]
    assert event["oneOf"] == [{"required": ["entity"]}, {"required": ["on"]}, {"required": ["true"]}]
    assert "entity" not in event["required"]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_field_is_a_truth_to_kubectl(kind: str) -> None:
    """kubectl reads YAML 1.1; a former name is kept in both spellings, to be refused."""
    truths = {"y", "n", "yes", "no", "off", "true", "false"}
    for path, part in fields(
        build_crd(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"], kind
    ):
        name = path.rpartition(".")[2].lower()
        assert name not in truths or "former name" in part["description"], path


def test_short_names_are_unique() -> None:
    assert len({short for short, _ in KINDS.values()}) == len(KINDS)


def test_operator_role_may_write_status() -> None:
    role = next(obj for obj in build_access() if obj["kind"] == "ClusterRole")

    assert role["rules"][0]["apiGroups"] == ["scenariokit.io"]


def test_generated_files_are_up_to_date() -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "ci" / "gen", "--check"], capture_output=True, text=True, check=False
    )

    assert result.returncode == 0, result.stdout + result.stderr


def test_catalogue_covers_the_six_faults() -> None:
    assert {
        "service-target-port-wrong", "container-image-not-found", "deployment-scaled-to-zero", "network-delay",
        "pod-failure", "env-value-wrong",
    } <= set(Catalog().faults())  # fmt: skip
