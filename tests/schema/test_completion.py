"""Editor completion in scenarios: catalogue names, and parameters with their ranges."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from jsonschema import Draft7Validator

from scenario_kit.catalog import Catalog
from scenario_kit.draft.completion import build_scenario_schema
from scenario_kit.load.yaml.document import read_document

CATALOG = Catalog()
SCHEMA = build_scenario_schema(CATALOG)
GOOD = read_document(next(p for p in CATALOG.scenarios() if p.parent.name == "valkey-cart-network-delay")).data


def list_offered(*path: str) -> list[str]:
    part: Any = SCHEMA["definitions"]
    for name in path:
        part = part[name]
    return list(part["anyOf"][0]["enum"])


def errors(change: Any) -> list[str]:
    document = copy.deepcopy(GOOD)
    change(document["spec"])
    return [error.message for error in Draft7Validator(SCHEMA).iter_errors(document)]


def test_every_catalogue_scenario_fits_the_editor_schema() -> None:
    Draft7Validator.check_schema(SCHEMA)
    for path in CATALOG.scenarios():
        assert [e.message for e in Draft7Validator(SCHEMA).iter_errors(read_document(path).data)] == [], path


def test_names_are_offered() -> None:
    assert list_offered("FaultUse", "properties", "type") == list(CATALOG.faults())
    assert list_offered("AppChoice", "properties", "name") == list(CATALOG.apps())
    assert "HighRequestErrorRate" in list_offered("AlertExpectation", "properties", "name")
    of_app = next(
        rule["then"]["properties"]
        for rule in SCHEMA["definitions"]["ScenarioSpec"]["allOf"]
        if rule["if"]["properties"]["app"]["properties"]["name"]["const"] == "otel-demo"
    )
    assert "Service/cart" in of_app["faults"]["items"]["properties"]["target"]["anyOf"][0]["enum"]
    assert (
        "Deployment/cart"
        in of_app["expect"]["properties"]["alerts"]["items"]["properties"]["entity"]["anyOf"][0]["enum"]
    )


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (lambda s: s["faults"][0].update(parameters={"latencyMilliseconds": 0}), "less than the minimum"),
        (lambda s: s["faults"][0].update(parameters={"latency": 5}), "'latency' was unexpected"),
        (lambda s: s["faults"][0].update(type="one-of-my-own", parameters={"anything": 1}), ""),
        (lambda s: s["app"].update(name="an-app-of-my-own", version="7"), ""),
        (lambda s: s["expect"]["alerts"][0].update(name="AnAlertOfMyOwn"), ""),
    ],
)
def test_parameters_are_validated_and_own_values_allowed(change: Any, reported: str) -> None:
    found = errors(change)
    assert (reported in " ".join(found)) if reported else found == []
