"""Bundles of a scenario with its fault types: the operator resolves them like the folder."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from operators.scenario.resolution import resolve_scenario
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli import run
from scenario_kit.errors import AuthoringError
from scenario_kit.lint import lint_file, lint_text
from scenario_kit.load import load_scenario, read_scenario
from scenario_kit.load.yaml.document import parse, read_document
from scenario_kit.model import Object, Severity
from scenario_kit.render import resolve
from scenario_kit.render.scenarios.bundle import build_bundle

ROOT = find_data_root()
FOLDERS = {
    "of the catalogue": ROOT / "catalog" / "scenarios" / "hotel-all-errors",
    "of a fixture": ROOT / "tests" / "fixtures" / "language" / "fault-beside-the-scenario",
}
CATALOG = Catalog((ROOT,))


def print_bundle(capsys: pytest.CaptureFixture[str], file: Path, *options: str) -> str:
    assert run(["render", "--bundle", str(file), *options]) == 0
    return capsys.readouterr().out


@pytest.fixture(params=FOLDERS)
def folder(request: pytest.FixtureRequest) -> Path:
    return FOLDERS[request.param]


@pytest.fixture
def bundled(folder: Path, capsys: pytest.CaptureFixture[str]) -> Object:
    found: Object = yaml.safe_load(print_bundle(capsys, folder))
    return found


def test_operator_resolves_bundle_like_its_folder(folder: Path, bundled: Object) -> None:
    file = folder / "scenario.yaml"
    scenario = load_scenario(file).scenario
    app = CATALOG.app(scenario.spec.app.name, scenario.spec.app.version)
    expected = resolve(scenario, CATALOG, app.namespace, beside=file)
    made = resolve_scenario(CATALOG, bundled).runbook

    assert made is not None
    assert made.digest == expected.digest
    assert made.faults == expected.faults
    assert made.objects == expected.objects
    assert made.procedures == expected.procedures


def test_bundle_contains_every_used_type(folder: Path, bundled: Object) -> None:
    held = [each["name"] for each in bundled["spec"]["faultTypes"]]

    assert held == list(dict.fromkeys(use["type"] for use in bundled["spec"]["faults"]))
    assert {path.name for path in (folder / "faults").iterdir()} <= set(held)
    assert bundled["metadata"]["namespace"] == "scenario-kit"


def test_lint_of_bundle_equals_lint_of_folder(folder: Path, bundled: Object, tmp_path: Path) -> None:
    whole = {(f.code, f.severity, f.message) for f in lint_file(folder / "scenario.yaml", CATALOG)}
    where = tmp_path / folder.name / "scenario.yaml"  # nothing lies beside it
    alone = [m.finding for m in lint_text(yaml.safe_dump(bundled, sort_keys=False), where, CATALOG)]

    assert [f for f in alone if f.severity == Severity.ERROR] == []
    assert {(f.code, f.severity, f.message) for f in alone if f.severity != Severity.NOTE} <= whole


def test_bundle_is_valid_yaml_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = print_bundle(capsys, folder)

    assert yaml.safe_load(text) == parse(text, "bundle.yaml").data  # YAML 1.1 there, 1.2 here
    assert yaml.safe_load(text) == json.loads(print_bundle(capsys, folder, "--format", "json"))
    assert read_scenario(text, "bundle.yaml").scenario.spec.fault_types


def test_type_of_a_collection_travels_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster has the kit's catalogue only, not the author's collection."""
    source = FOLDERS["of the catalogue"]
    scenario = tmp_path / "catalog" / "scenarios" / source.name
    shutil.copytree(source, scenario)
    shutil.move(scenario / "faults", tmp_path / "catalog" / "faults")
    bundled = yaml.safe_load(print_bundle(capsys, scenario))

    assert [each["name"] for each in bundled["spec"]["faultTypes"]] == ["registry-restarted"]
    assert resolve_scenario(CATALOG, bundled).runbook is not None


SHIPPED = ROOT / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"


def test_bundle_adds_namespace_and_types_only(capsys: pytest.CaptureFixture[str]) -> None:
    bundled = yaml.safe_load(print_bundle(capsys, SHIPPED))
    (held,) = bundled["spec"].pop("faultTypes")

    assert held["name"] == "deployment-scaled-to-zero"
    assert bundled.pop("metadata") == {**parse(SHIPPED.read_text(), "").data["metadata"], "namespace": "scenario-kit"}
    assert bundled == {k: v for k, v in parse(SHIPPED.read_text(), "").data.items() if k != "metadata"}


def test_equal_bundled_type_is_the_catalogues(capsys: pytest.CaptureFixture[str]) -> None:
    bundled = yaml.safe_load(print_bundle(capsys, SHIPPED))

    assert CATALOG.extend(bundled["spec"]["faultTypes"]) is CATALOG
    alone = resolve_scenario(CATALOG, parse(SHIPPED.read_text(), "").data)
    assert resolve_scenario(CATALOG, bundled).findings == alone.findings


def test_bundled_type_version_wins_and_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """A checkout is ahead of the operator's catalogue, or behind it: what was sent is what happens."""
    bundled = yaml.safe_load(print_bundle(capsys, SHIPPED))
    bundled["spec"]["faultTypes"][0]["version"] = 77
    found = resolve_scenario(CATALOG, bundled)

    assert found.runbook is not None
    assert CATALOG.extend(bundled["spec"]["faultTypes"]).fault("deployment-scaled-to-zero").version == 77
    assert CATALOG.fault("deployment-scaled-to-zero").version == 1
    (messages,) = [f for f in found.findings if f.code == "SK108"]
    assert (messages.severity, str(messages.position)) == (Severity.WARNING, "spec.faults[0].type")
    assert "SK222" not in {f.code for f in found.findings}


@pytest.mark.parametrize("name", CATALOG.faults())
def test_catalogue_types_in_a_bundle_are_recognised(name: str) -> None:
    assert CATALOG.extend([read_document(CATALOG.fault_path(name)).data]) is CATALOG


def test_bundling_is_idempotent() -> None:
    document: Object = {"metadata": {"name": "a"}, "spec": {"faults": [], "faultTypes": [{"name": "b", "version": 2}]}}
    once = build_bundle(document, [{"name": "b", "version": 1}, {"name": "c"}], "home")

    assert once["spec"]["faultTypes"] == [{"name": "b", "version": 2}, {"name": "c"}]
    assert build_bundle(once, [{"name": "c"}], "home") == once


INTRUDER = {
    "create": {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "{{ neutral('pod') }}", "namespace": "kube-system"},
        "spec": {"hostPID": True, "containers": [{"name": "a", "image": "busybox:1.37.0"}]},
    }
}


def list_wrong(types: list[Any]) -> list[Any]:
    """List edits that break a bundle, by the resulting code and field."""
    first = types[0]
    return [
        (lambda: first.update(chnges=[]), "SK102", "spec.faultTypes[0].chnges"),
        (lambda: first.pop("changes"), "SK103", "spec.faultTypes[0]"),
        (lambda: first.update(targets=[]), "SK104", "spec.faultTypes[0].targets"),
        (lambda: first.update(parameters={"type": 7}), "SK104", "spec.faultTypes[0].parameters"),
        (lambda: first["changes"].append(INTRUDER), "SK202", "spec.faultTypes[0].changes"),
        (lambda: first["changes"].append(INTRUDER), "SK236", "spec.faultTypes[0].changes[1].create.metadata.namespace"),
        (lambda: first["effect"][0]["query"].update(expr="sum("), "SK117", "spec.faultTypes[0].effect[0].query.expr"),
        (lambda: types.append(copy.deepcopy(first)), "SK108", "spec.faultTypes[1].name"),
        (types.clear, "SK108", "spec.faults[0].type"),
    ]


@pytest.mark.parametrize("case", range(9))
def test_bundled_type_is_checked_like_a_file(case: int, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bundled = yaml.safe_load(print_bundle(capsys, FOLDERS["of the catalogue"]))
    spoil, code, field = list_wrong(bundled["spec"]["faultTypes"])[case]
    spoil()

    found = resolve_scenario(CATALOG, bundled)
    assert found.runbook is None
    assert (code, field) in {(f.code, str(f.position)[: len(field)]) for f in found.errors}
    where = tmp_path / "hotel-all-errors" / "scenario.yaml"
    try:
        linted = {m.finding.code for m in lint_text(yaml.safe_dump(bundled, sort_keys=False), where, CATALOG)}
    except AuthoringError as problem:
        linted = {f.code for f in problem.findings}
    assert code in linted
