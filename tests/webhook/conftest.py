"""A good scenario as an object, and the ways in which it is spoiled."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.load.yaml.document import read_document

FILE = find_data_root() / "catalog" / "scenarios" / "payment-pod-failure" / "scenario.yaml"
GOOD: dict[str, Any] = read_document(FILE).data
CATALOG = Catalog()
HERE = "scenario-kit"


def spoil(change: Callable[[dict[str, Any]], Any], namespace: str = HERE) -> dict[str, Any]:
    """A copy of the good scenario, in a namespace, with its spec changed."""
    obj = copy.deepcopy(GOOD)
    obj["metadata"]["namespace"] = namespace
    change(obj["spec"])
    return obj


def set_parameter(spec: dict[str, Any]) -> None:
    spec["faults"][0]["parameters"] = {"containerName": "payment"}


#: What is wrong → the change, the code, the field, and what helps.
WRONG: dict[str, tuple[Callable[[dict[str, Any]], Any], str, str, str]] = {
    "unknown fault": (
        lambda spec: spec["faults"][0].update(type="pod-failur"),
        "SK108", "spec.faults[0].type", "did you mean `pod-failure`",
    ),
    "unknown app": (
        lambda spec: spec["app"].update(name="otel-demmo"), "SK107", "spec.app.name", "did you mean `otel-demo`?",
    ),
    "unknown version": (
        lambda spec: spec["app"].update(version="9.9"), "SK107", "spec.app.version", "use one of `2.2.0`",
    ),
    "unknown target": (
        lambda spec: spec["faults"][0].update(target="Deployment/paymnt"),
        "SK110", "spec.faults[0].target", "did you mean `Deployment/payment`",
    ),
    "unknown parameter": (
        set_parameter, "SK109", "spec.faults[0].parameters.containerName", "there are no candidates",
    ),
    "wrong label": (
        lambda spec: spec["groundTruth"]["rootCauses"][0].update(fault="payment-pod"),
        "SK131", "spec.groundTruth.rootCauses[0].fault", "did you mean `payment-pods`?",
    ),
    "missing brief": (lambda spec: spec.pop("brief"), "SK605", "spec.brief", "add spec.brief"),
}  # fmt: skip


@pytest.fixture(params=WRONG)
def wrong(request: pytest.FixtureRequest) -> tuple[dict[str, Any], str, str, str]:
    change, code, field, helps = WRONG[request.param]
    return spoil(change), code, field, helps
