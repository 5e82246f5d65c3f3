"""Fields of JSON documents in ConfigMaps."""

from __future__ import annotations

import json

import pytest

from scenario_kit.render.objects.jsonfields import list_documents, list_fields, replace_field

TEXT = '{"port": 80, "tls": true, "db": {"address": "db:5432", "a.b": "x", "pool": null}, "list": [1]}'


def test_single_values_are_found_by_their_path() -> None:
    assert list_fields(TEXT) == {"port": 80, "tls": True, "db.address": "db:5432", "db.a.b": "x"}


@pytest.mark.parametrize("text", ["", "[1]", "a: 1", None, 5, "[" * 100_000], ids=lambda t: str(t)[:5])
def test_non_json_object_has_no_fields(text: object) -> None:
    assert list_fields(text) == {}


def test_documents_of_a_config_map() -> None:
    assert list_documents({"data": {"a.json": '{"x": 1}', "b.yaml": "x: 1"}}) == {"a.json": {"x": 1}}
    assert list_documents({}) == {}


@pytest.mark.parametrize(
    ("path", "value", "there"),
    [
        ("db.address", "db:5433", "db:5433"),
        ("db.a.b", 7, "7"),
        ("port", "81", 81),
        ("port", "many", "many"),
        ("tls", "false", False),
    ],
)
def test_replaced_value_keeps_its_type(path: str, value: object, there: object) -> None:
    changed = replace_field(TEXT, path, value)

    assert list_fields(changed) == {**list_fields(TEXT), path: there}
    assert list(json.loads(changed)) == list(json.loads(TEXT))


def test_missing_field_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no field 'db'; it has port, tls, db.address"):
        replace_field(TEXT, "db", "x")
