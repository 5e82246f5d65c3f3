"""A mechanism of the catalogue under another name, and fault types that do something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_file
from tests.lint.test_rules import base

CATALOG, MERGING = Catalog(), Catalog(merging=True)


def write(folder: Path, like: str, target: str, parameters: dict[str, Any], edit: dict[str, Any]) -> Path:
    """A scenario with a copy of a fault type of the catalogue beside it, under another name and changed in parts."""
    document = base()
    document["metadata"]["name"] = folder.name
    fault = yaml.safe_load(CATALOG.fault_path(like).read_text()) | {"name": "shifted", "title": "Shifted"} | edit
    document["spec"]["faults"] = [
        {"name": "catalog-port", "type": "shifted", "target": target, "parameters": parameters},
    ]
    file = folder / "faults" / "shifted" / "fault.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(yaml.safe_dump(fault, sort_keys=False))
    path = folder / "scenario.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def patch(document: dict[str, Any], kind: str = "Merge") -> dict[str, Any]:
    return {"changes": [{"patch": {"target": "{{ target }}", "type": kind, "patch": document}}]}


def json_patch(path: str, value: Any) -> dict[str, Any]:
    operation = {"op": "replace", "path": path, "value": value}
    return {"changes": [{"patch": {"target": "{{ target }}", "type": "Json", "patch": [operation]}}]}


PORT, SELECTOR = "service-target-port-wrong", "service-selector-mismatch"
RENAMED = {
    "only the name": (PORT, "Service/currency", {}, {}, PORT),
    "another kind of patch": (PORT, "Service/ad", {}, json_patch("/spec/ports/0/targetPort", 9999), PORT),
    "another number": (PORT, "Service/ad", {}, json_patch("/spec/ports/0/targetPort", 77), PORT),
    "another way to reach what runs": (PORT, "Service/ad", {}, {"rollout": {"reconnect": "None"}}, PORT),
    "a label and a value": (SELECTOR, "Service/ad", {}, patch({"spec": {"selector": {"tier": "blue"}}}), SELECTOR),
    "a number of replicas": (
        "deployment-scaled-to-zero",
        "Deployment/ad",
        {},
        patch({"spec": {"replicas": 0}}),
        "deployment-scaled-to-zero",
    ),
    "an experiment": ("network-delay", "Deployment/ad", {"latencyMilliseconds": 900}, {}, "network-delay"),
}


def find(path: Path, catalog: Catalog) -> list[tuple[str, str]]:
    return [(str(f.severity), f.message) for f in lint_file(path, catalog) if f.code == "SK222"]


@pytest.mark.parametrize("case", RENAMED)
def test_renamed_catalogue_mechanism_is_reported(case: str, tmp_path: Path) -> None:
    like, target, parameters, edit, known = RENAMED[case]
    path = write(tmp_path / "shop", like, target, parameters, edit)

    message = f"fault type 'shifted' writes what '{known}' of the catalogue writes"
    assert find(path, CATALOG) == [("Warning", message)]
    assert find(path, MERGING) == [("Error", message)]


OTHERS = {
    "another field": (PORT, "Service/ad", patch({"spec": {"sessionAffinity": "ClientIP"}})),
    "a field more": (PORT, "Service/ad", patch({"spec": {"selector": {"tier": "x"}, "sessionAffinity": "ClientIP"}})),
    "it lasts differently": ("pod-kill", "Deployment/ad", {"persistence": "Pod"}),
    "it is repaired differently": ("pod-kill", "Deployment/ad", {"mitigation": "Native"}),
}


@pytest.mark.parametrize("case", OTHERS)
def test_different_mechanism_is_not_reported(case: str, tmp_path: Path) -> None:
    like, target, edit = OTHERS[case]
    assert find(write(tmp_path / "shop", like, target, {}, edit), CATALOG) == []


def test_fix_names_the_parameters(tmp_path: Path) -> None:
    path = write(tmp_path / "shop", *RENAMED["a label and a value"][:4])
    (finding,) = [f for f in lint_file(path, CATALOG) if f.code == "SK222"]
    assert 'type: service-selector-mismatch, parameters: {"key": "tier", "value": "blue"}' in finding.fix


def test_catalogue_types_are_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump(base(), sort_keys=False))
    assert find(path, MERGING) == []
