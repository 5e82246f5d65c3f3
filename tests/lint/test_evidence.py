"""SK607: evidence beside a scenario holds for the scenario as it was run, and for no other."""

import json
import shutil
from datetime import date
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.catalog.evidence import read_evidence, write_evidence
from scenario_kit.errors import AuthoringError
from scenario_kit.lint import lint_file
from scenario_kit.load import load_scenario
from scenario_kit.model import Severity
from scenario_kit.model.results.evidence import Evidence, VersionKey
from scenario_kit.render import resolve

CATALOG = Catalog(merging=True)
NAME = "product-catalog-wrong-target-port"


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A copy of a catalogue scenario with current evidence."""
    path = tmp_path / "scenarios" / NAME / "scenario.yaml"
    shutil.copytree(find_data_root() / "catalog" / "scenarios" / NAME, path.parent)
    digest = resolve(load_scenario(path).scenario, CATALOG, "anywhere", users=7).digest
    write_evidence(path, evidence(digest))
    return path


def evidence(digest: str) -> Evidence:
    key = VersionKey(scenario="a", app="shop 1", app_digest="b", images="c", alerts="d", contract="e")
    return Evidence(
        scenario=NAME, digest=digest, key=key, plan="standard", n=5, at_least=0.5493, claims=0.53, tier="simulated",
        data_plane="Twin", trials=9, minutes=1.5, date=date(2030, 1, 2), kit="0.1.0",
    )  # fmt: skip


def test_current_evidence_has_no_finding(scenario: Path) -> None:
    assert lint_file(scenario, CATALOG) == []


@pytest.mark.parametrize(
    ("old", "new", "stale"),
    [
        ("targetPort: 9999", "targetPort: 9998", True),
        ("withinSeconds: 480", "withinSeconds: 510", True),
        ("brief: Customers report", "brief: Customers say", False),
        ("tags: [networking", "tags: [release", False),
    ],
)
def test_evidence_is_stale_after_incident_changes_only(scenario: Path, old: str, new: str, stale: bool) -> None:
    text = scenario.read_text()
    assert old in text
    scenario.write_text(text.replace(old, new))

    found = [f for f in lint_file(scenario, CATALOG) if f.code == "SK607"]

    assert [(f.severity, f.fix.startswith("run ci/evidence")) for f in found] == [(Severity.WARNING, True)] * stale
    assert all(f.position and f.position.path.endswith("evidence.json") for f in found)


def test_evidence_of_another_scenario_is_refused(scenario: Path) -> None:
    path = scenario.with_name("evidence.json")
    path.write_text(path.read_text().replace(NAME, "cart-scaled-to-zero"))

    assert [f.code for f in lint_file(scenario, CATALOG)] == ["SK607"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"scenario": 1}', "[" * 100_000, " " * 300_000])
def test_malformed_evidence_is_an_error(scenario: Path, text: str) -> None:
    scenario.with_name("evidence.json").write_text(text)

    found = lint_file(scenario, CATALOG)

    assert [(f.code, f.severity) for f in found] == [("SK607", Severity.ERROR)]
    with pytest.raises(AuthoringError):
        read_evidence(scenario)


def test_unknown_fault_is_reported_by_its_rule_only(scenario: Path) -> None:
    scenario.write_text(scenario.read_text().replace("type: service-target-port-wrong", "type: no-such-fault"))

    assert [f.code for f in lint_file(scenario, CATALOG)] == ["SK108"]


def test_written_evidence_is_read_back(scenario: Path) -> None:
    found = read_evidence(scenario)
    assert found is not None
    assert found.n == 5
    assert json.loads(scenario.with_name("evidence.json").read_text())["schemaVersion"] == 1
    scenario.with_name("evidence.json").unlink()
    assert read_evidence(scenario) is None
