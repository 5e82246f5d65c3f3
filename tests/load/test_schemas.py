"""Parameter schemas: allowed keywords, and bounded validation."""

from __future__ import annotations

import time
from typing import Any

import pytest

from scenario_kit.load.schema.schemas import MOST, MOST_PARTS, check_schema, explain_too_much, find_violations
from scenario_kit.load.yaml.document import Positions

HERE = Positions("fault.yaml")


def field(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": schema}}


def list_messages(schema: Any) -> list[str]:
    findings = check_schema(schema, HERE, ("parameters",))
    assert all(f.code == "SK104" for f in findings)
    return [f.message for f in findings]


@pytest.mark.parametrize(
    "schema",
    [
        {}, field(type="string", pattern="^(a|b)+$"), field(enum=["$ref", {"pattern": "("}]), field(default={"$id": 1}),
        {"properties": {"pattern": {"type": "string"}, "$ref": {"type": "string"}, "unevaluatedItems": {}}},
        field(anyOf=[{"const": 1}, {"type": "string"}]), {"$comment": "as upstream has it"},
    ],
)  # fmt: skip
def test_good(schema: Any) -> None:
    assert list_messages(schema) == []


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (field(pattern="("), "invalid pattern"), (field(pattern="(?=a)"), "invalid pattern"),
        (field(propertyNames={"pattern": "("}), "invalid pattern"),
        (field(patternProperties={"^(a+)+$": {}}), "`patternProperties` is not available"),
        (field(**{"$ref": "file:///etc/passwd"}), "`$ref` is not available"),
        (field(items={"$dynamicRef": "#"}), "`$dynamicRef` is not available"),
        (field(**{"$schema": "http://json-schema.org/draft-07/schema#"}), "`$schema` is not available"),
        (field(allOf=[{"unevaluatedProperties": False}]), "`unevaluatedProperties` is not available"),
        (field(dependentSchemas={"a": {}}), "`dependentSchemas` is not available"),
        ({"$id": "http://example.org"}, "`$id` is not available"),
        (field(enum=[*range(MOST_PARTS)]), f"a schema may have {MOST_PARTS}"),
        ({"required": [{"a": i} for i in range(15_000)]}, f"a schema may have {MOST_PARTS}"),
        ({"type": "objekt"}, "is not a JSON Schema"), ([1], "is not a JSON Schema"),
        ({"properties": {"x": True}}, "`x` has no schema"),
    ],
)  # fmt: skip
def test_refused(schema: Any, message: str) -> None:
    assert any(message in one for one in list_messages(schema))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (field(pattern="^a*a*a*a*a*a*a*a*b$"), "a" * 100_000),
        (field(propertyNames={"pattern": "^(a+)+$"}), {"a" * 50 + "!": 1}),
        (field(uniqueItems=True), [{"a": i} for i in range(20_000)]),
        (field(uniqueItems=True), [{"a": i // 2} for i in range(300)]),
        (field(items={"enum": [f"v{i}" for i in range(900)]}), ["w"] * 20_000),
        (field(items={"anyOf": [{"const": i} for i in range(200)]}), ["w"] * 20_000),
        (field(items={"anyOf": [{"const": i} for i in range(200)]}), ["w"] * 200),
        (field(items={"enum": ["v" * 1_000] * 100}), ["w" * 10_000] * 500),
    ],
)  # fmt: skip
def test_judging_ends(schema: Any, value: Any) -> None:
    assert list_messages(schema) == []
    before = time.process_time()

    found = find_violations({"x": value}, schema)

    assert time.process_time() - before < 5
    assert 0 < len(found) <= MOST
    assert all(len(one.message) < 500 for one in found)


def test_violations_are_found_with_path_and_instance() -> None:
    schema = {"required": ["y"], **field(type="string", pattern="^a+$")}

    (first, second) = sorted(find_violations({"x": "b"}, schema))

    assert (first.place, first.message) == ((), "'y' is a required property")
    assert (second.place, second.message, second.instance) == (("x",), "'b' does not match '^a+$'", "b")
    assert find_violations({"x": "a", "y": 1}, schema) == []


def test_oversized_input_is_explained() -> None:
    assert explain_too_much({"x": [1]}, field()) == ""
    assert "can be validated" in explain_too_much({"x": [1] * 2_000}, field())
