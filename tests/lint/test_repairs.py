"""SK433, SK434: decoys and solutions are compared by what the objects mean, not by how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint import lint_text

CATALOG = Catalog(merging=True)
TEXT = (find_data_root() / "catalog/scenarios/product-catalog-wrong-target-port/scenario.yaml").read_text()
NAMED = [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": "service"}]
PORT = {"name": "tcp-service", "port": 8080, "targetPort": 8080}


def patch(target: str, body: Any, kind: str = "Merge") -> dict[str, Any]:
    return {"patch": {"target": target, "type": kind, "patch": body}}


def recreate(**port: Any) -> list[dict[str, Any]]:
    spec = {"selector": {"opentelemetry.io/name": "product-catalog"}, "ports": [{**PORT, **port}]}
    manifest = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "product-catalog"}, "spec": spec}
    return [{"delete": {"target": "Service/product-catalog"}}, {"create": manifest}]


def lint(part: str, changes: list[dict[str, Any]], extend: bool = False) -> dict[str, str]:
    """Return the findings, by code, of the scenario with these changes as its first solution or decoy."""
    document = yaml.safe_load(TEXT)
    procedure = document["spec"][part][0]
    procedure["changes"] = [*procedure["changes"], *changes] if extend else changes
    path = Path("/nowhere/scenarios/product-catalog-wrong-target-port/scenario.yaml")
    located = lint_text(yaml.safe_dump(document, sort_keys=False), path, CATALOG)
    return {each.finding.code: each.finding.message for each in located}


@pytest.mark.parametrize(
    ("changes", "repairs"),
    [
        (recreate(), True),
        (recreate(targetPort="service"), True),
        (recreate(protocol="TCP"), True),
        (recreate(targetPort=9999), False),
        ([patch("Service/product-catalog", NAMED, "Json")], True),
        ([patch("Service/product-catalog", [{**NAMED[0], "value": "other"}], "Json")], False),
        ([patch("Service/product-catalog", [{**NAMED[0], "value": 8081}], "Json")], False),
    ],
    ids=["recreated", "recreated, named", "with a default", "still wrong", "named", "unknown name", "another port"],
)
def test_decoy_that_repairs_is_reported_however_it_is_written(changes: list[dict[str, Any]], repairs: bool) -> None:
    assert ("SK433" in lint("decoys", changes)) == repairs


@pytest.mark.parametrize(("target", "repairs"), [("Service/product-catalog", True), ("Service/currency", False)])
def test_decoy_that_repairs_one_of_two_causes_is_reported(target: str, repairs: bool) -> None:
    document = yaml.safe_load(TEXT)
    spec = document["spec"]
    spec["faults"].append({"name": "no-cart", "type": "deployment-scaled-to-zero", "target": "Deployment/cart"})
    spec["groundTruth"]["rootCauses"].append({"fault": "no-cart", "entity": "Deployment/cart"})
    scale = {"scale": {"target": "Deployment/cart", "replicas": 1}}
    spec["solutions"].append({"name": "scale-up", "fixes": ["no-cart"], "description": "Up", "changes": [scale]})
    port = {"op": "replace", "path": "/spec/ports/0/targetPort", "value": 8080}
    note = patch("Deployment/ad", {"metadata": {"annotations": {"note": "x"}}})
    spec["decoys"][0]["changes"] = [patch(target, [port], "Json"), note]
    path = Path("/nowhere/scenarios/product-catalog-wrong-target-port/scenario.yaml")
    found = [each.finding.code for each in lint_text(yaml.safe_dump(document, sort_keys=False), path, CATALOG)]
    assert ("SK433" in found) == repairs


@pytest.mark.parametrize("port", [{}, {"targetPort": "service"}, {"protocol": "TCP"}])
def test_service_may_be_recreated_without_defaults(port: dict[str, Any]) -> None:
    assert lint("solutions", recreate(**port)) == {}


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (patch("Service/email", {"spec": {"internalTrafficPolicy": "Local"}}), "is Local, its baseline is Cluster"),
        (patch("Deployment/email", {"spec": {"template": {"spec": {"dnsPolicy": "Default"}}}}), "dnsPolicy is Default"),
        (patch("Deployment/frontend", {"spec": {"progressDeadlineSeconds": 86400}}), "its baseline is 600"),
        ({"scale": {"target": "Deployment/frontend", "replicas": 11}}, "replicas is 11, its baseline is 1"),
    ],
)
def test_solution_may_not_change_what_the_app_leaves_to_defaults(change: dict[str, Any], reported: str) -> None:
    assert reported in lint("solutions", [change], extend=True)["SK434"]


def test_solution_may_give_more_within_bounds() -> None:
    assert lint("solutions", [{"scale": {"target": "Deployment/frontend", "replicas": 10}}], extend=True) == {}
