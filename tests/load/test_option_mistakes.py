"""SK104: options and parameters that contradict themselves."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.load.options import find_option_mistakes
from scenario_kit.load.schema.contradictions import find_contradictions
from scenario_kit.load.yaml.document import Positions


def field(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": {"x": schema}}


@pytest.mark.parametrize(
    ("schema", "message", "fix"),
    [
        (field(minimum=9, maximum=5), "no value is valid: `minimum` is 9, and `maximum` 5", "exchange the two"),
        (field(minLength=5, maxLength=2), "no value is valid: `minLength` is 5, and `maxLength` 2", "exchange"),
        (
            field(exclusiveMinimum=5, maximum=5),
            "no value is valid: `exclusiveMinimum` is 5, and `maximum` 5",
            "exchange",
        ),
        (
            field(items={"minItems": 2, "maxItems": 1}),
            "no value is valid: `minItems` is 2, and `maxItems` 1",
            "exchange",
        ),
        (
            field(additionalProperties={"minimum": 2, "maximum": 1}),
            "no value is valid: `minimum` is 2, and `maximum` 1",
            "exchange",
        ),
        (field(enum=[]), "no value is valid: `enum` is empty", "list the values"),
        (field(enum=["a", "a"]), "`enum` lists 'a' twice", "remove one"),
        (
            field(enum=["a", "b"], default="c"),
            "the default is not valid itself: 'c' is not one of ['a', 'b']",
            "correct",
        ),
        (field(type="integer", default="1"), "the default is not valid itself", "correct the default"),
        (
            field(type="integer", minimun=1),
            "`minimun` is not a keyword of JSON Schema, so it has no effect",
            "`minimum`",
        ),
        (field(**{"x-require": {}}), "`x-require` is not a keyword of JSON Schema", "`x-requires`"),
        (
            {**field(), "required": ["y"]},
            "no value is valid: `required` names 'y', which is not in `properties`",
            "use one of `x`",
        ),
    ],
)
def test_contradiction(schema: Any, message: str, fix: str) -> None:
    (found,) = find_contradictions(schema)
    assert found.message.startswith(message)
    assert fix in found.fix


@pytest.mark.parametrize(
    "schema",
    [
        {},
        field(minimum=1, maximum=1),
        field(exclusiveMinimum=0, maximum=1),
        field(enum=[1, True, "1"]),
        field(type="integer", default="{{ ports | first }}"),
        field(default={"minimum": 2, "maximum": 1}),
        field(unit="s", nullable=True),
        {"properties": {"x": {}}, "required": ["y"]},
        field(**{"x-unit": "s"}),
    ],
)
def test_consistent_schema(schema: Any) -> None:
    assert find_contradictions(schema) == []


def app(options: Any = None, loads: Any = None, own: Any = None) -> dict[str, Any]:
    return {"options": options or {}, "loads": loads or {}, "versions": {"1": {"options": own or {}}, "2": {}}}


SHAPE = field(enum=["Steady", "Surge"], default="Steady")


@pytest.mark.parametrize(
    ("document", "messages"),
    [
        (app(SHAPE, {"steady": {"options": {"x": "Surge"}}}), []),
        (
            app(SHAPE, {"steady": {"options": {"x": "Stedy"}}}),
            ["`loads.steady.options.x` must be 'Steady' or 'Surge', but is the text 'Stedy'"],
        ),
        (app(SHAPE, {"steady": {"options": {"y": 1}}}), ["`y` is not a field of `loads.steady.options`"]),
        (app(SHAPE, {"steady": {"options": {"y": 1}}}, {"properties": {"y": {"type": "integer", "default": 0}}}), []),
        (
            app(field(minimum=1, maximum=5), own={"properties": {"x": {"minimum": 9}}}),
            ["no value is valid: `minimum` is 9, and `maximum` 5"],
        ),
        (
            app(field(enum=["Claim"], **{"x-requires": {"Clam": ["a"]}})),
            ["option 'x' has no value 'Clam', for which `x-requires` names capabilities"],
        ),
        (app(field(type="boolean", default=False, **{"x-requires": {"true": ["a"]}})), []),
        (
            app(field(type="integer"), own={"properties": {"y": {"type": "string"}}}),
            [
                "option 'x' has no default, so a scenario that does not choose it has no value for it",
                "option 'y' has no default, so a scenario that does not choose it has no value for it",
            ],
        ),
        # A default that one version adds is none of the other version.
        (
            app(field(type="integer"), own={"properties": {"x": {"default": 1}}}),
            ["option 'x' has no default, so a scenario that does not choose it has no value for it"],
        ),
        (
            app(field(type="boolean", **{"x-requires": ["a"]})),
            ["`x-requires` of option 'x' does not map values to capabilities"],
        ),
    ],
)
def test_mistakes_in_options_of_an_app(document: dict[str, Any], messages: list[str]) -> None:
    assert [f.message for f in find_option_mistakes(document, Positions("app.yaml"))] == messages
