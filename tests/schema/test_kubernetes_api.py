"""The shipped table of Kubernetes' fields: how it is condensed, and that it is that of the pinned version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenario_kit.lab.toolchain.components import KUBERNETES
from scenario_kit.schema.object_types.chaos_mesh import find_chaos_type
from scenario_kit.schema.object_types.field_type import FieldType, ObjectType, parse_word
from scenario_kit.schema.object_types.kubernetes import (
    DATA,
    find_object_type,
    get_version,
    list_kinds,
    list_versions,
    resolve_type,
)
from scenario_kit.schema.writable import WRITABLE
from tools.kubernetes_api.condenser import condense_api, condense_definitions
from tools.kubernetes_api.enums import read_enums

SOURCE = """\
		"k8s.io/api/core/v1.Pod":      schema_k8sio_api_core_v1_Pod(ref),
		"k8s.io/api/core/v1.PodSpec":  schema_k8sio_api_core_v1_PodSpec(ref),

func schema_k8sio_api_core_v1_PodSpec(ref common.ReferenceCallback) common.OpenAPIDefinition {
					"restartPolicy": {
						SchemaProps: spec.SchemaProps{
							Enum:        []interface{}{"Always", "Never"},
					"modes": {
										Enum:    []interface{}{"A", "B"},
"""
POD = "io.k8s.api.core.v1.Pod"
SPEC = "io.k8s.api.core.v1.PodSpec"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
DEFINITIONS: dict[str, dict[str, Any]] = {
    POD: {
        "properties": {"apiVersion": {"type": "string"}, "spec": {"$ref": f"#/definitions/{SPEC}"}},
        "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}],
    },
    SPEC: {
        "required": ["volumes"],
        "properties": {
            "restartPolicy": {"type": "string"},
            "modes": {"type": "array", "items": {"type": "string"}},
            "overhead": {"type": "object", "additionalProperties": {"$ref": f"#/definitions/{QUANTITY}"}},
            "volumes": {
                "type": "array", "items": {"$ref": f"#/definitions/{SPEC}"},
                "x-kubernetes-patch-strategy": "merge,retainKeys", "x-kubernetes-patch-merge-key": "name",
            },
            "data": {"type": "string", "format": "byte"},
        },
    },
    QUANTITY: {"type": "string"},
}  # fmt: skip


def test_definitions_are_condensed_to_words() -> None:
    table = condense_definitions(DEFINITIONS, read_enums(SOURCE))

    assert table["kinds"] == {"Pod": ["v1"]}
    assert table["objects"] == {"v1/Pod": "core.v1.Pod"}
    assert table["types"]["core.v1.PodSpec"] == {
        "restartPolicy": "=Always|Never",
        "modes": "[]=A|B",
        "overhead": "{}quantity",
        "volumes*": "[name]@core.v1.PodSpec",
        "data": "base64",
    }


@pytest.mark.parametrize(
    ("word", "field"),
    [
        ("string", FieldType("string")),
        ("=A|B", FieldType("string", enum=("A", "B"))),
        ("[]string", FieldType("list", items=FieldType("string"))),
        ("[=]string", FieldType("list", items=FieldType("string"), merge_key="=")),
        ("[name]@a.v1.B", FieldType("list", items=FieldType("object", type="a.v1.B"), merge_key="name")),
        ("{}[]=A", FieldType("map", items=FieldType("list", items=FieldType("string", enum=("A",))))),
    ],
)
def test_word_is_parsed(word: str, field: FieldType) -> None:
    assert parse_word(word) == field


def test_every_type_of_the_table_can_be_reached_and_parsed() -> None:
    seen: set[int] = set()
    left = [found for kind in list_kinds() for v in list_versions(kind) if (found := find_object_type(v, kind))]
    while left:
        type_ = left.pop()
        if id(type_) not in seen:
            seen.add(id(type_))
            left += [inner for field in type_.fields.values() if (inner := _find_inner(field)) is not None]
    assert len(seen) > 250


def _find_inner(field: FieldType) -> ObjectType | None:
    while field.items is not None:
        field = field.items
    return resolve_type(field) if field.form == "object" else None


def test_every_writable_kind_has_a_type() -> None:
    custom = ("security.istio.io", "crd.projectcalico.org")
    for each in WRITABLE:
        if each.group == "chaos-mesh.org":
            assert find_chaos_type(each.kind) is not None, each
        elif each.group not in custom:
            versions = [v for v in list_versions(each.kind) if v.rpartition("/")[0] == each.group]
            assert versions, each
            assert all(find_object_type(v, each.kind) for v in versions), each


def test_stable_versions_come_first() -> None:
    assert list_versions("HorizontalPodAutoscaler") == ("autoscaling/v2", "autoscaling/v1")


def test_table_is_that_of_the_pinned_version() -> None:
    assert get_version() == KUBERNETES
    module = Path.home() / "go" / "pkg" / "mod" / "k8s.io" / f"kubernetes@v{KUBERNETES}"
    if not module.is_dir():
        pytest.skip(f"{module} is not downloaded")
    assert DATA.read_text(encoding="utf-8") == condense_api(module, KUBERNETES), "run ci/kubernetes-api"
