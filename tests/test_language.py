"""Scenarios that exercise the language have no findings, and each gets the trials of its feature."""

from pathlib import Path

import pytest

from scenario_kit.campaign import QUICK, plan_trials
from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_file
from scenario_kit.load import load_scenario
from scenario_kit.render import resolve

CATALOG = Catalog()
FOLDER = Path(__file__).parent / "fixtures" / "language"
FILES = sorted(FOLDER.glob("*/scenario.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.parent.name)
def test_language_fixture_has_no_findings(path):
    """Findings about duplicates of the catalogue are excluded: the fixtures are about the language."""
    assert [f for f in lint_file(path, CATALOG) if f.code not in ("SK217", "SK222", *list_expected_codes(path))] == []


def list_expected_codes(path):
    """List the codes of suppressions, and of their expiry."""
    suppressed = [entry.code for entry in load_scenario(path).scenario.spec.suppress]
    return (*suppressed, "SK606") if suppressed else ()


@pytest.mark.parametrize(
    ("name", "purposes"),
    [
        ("alternative-solutions", ["repeat-1", "control", "label", "solution-2"]),
        ("benign", ["repeat-1", "control", "leaks"]),
        ("conjunctive-causes", ["repeat-1", "control", "label-1", "label-2", "solution-2"]),
        ("distractor", ["repeat-1", "control", "distractors", "undisturbed", "label", "label-rest"]),
        ("fault-beside-the-scenario", ["repeat-1", "control", "label"]),
        ("no-incident", ["repeat-1"]),
        ("no-incident-with-distractor", ["repeat-1", "control", "leaks"]),
        ("red-herring", ["repeat-1", "control", "distractors", "undisturbed", "label", "label-rest"]),
        ("silent", ["repeat-1", "control", "label"]),
        ("stage-that-ends", ["repeat-1", "control", "distractors", "undisturbed", "label", "label-rest"]),
        ("trigger-and-sustaining", ["repeat-1", "control", "untriggered", "label", "label-rest"]),
        ("two-independent-causes", ["repeat-1", "control", "label", "leave-out-1", "leave-out-2"]),
    ],
)
def test_fixture_gets_the_trials_of_its_feature(name, purposes):
    path = FOLDER / name / "scenario.yaml"
    runbook = resolve(load_scenario(path).scenario, CATALOG, "otel-demo-bcdf", beside=path)
    assert [t.purpose for t in plan_trials(QUICK, runbook, 1)] == purposes


def test_documentation_lists_every_fixture():
    page = (Path(__file__).parents[1] / "docs" / "causes-and-outcomes.md").read_text()
    assert [
        p.parent.name for p in FILES if f"(../tests/fixtures/language/{p.parent.name}/scenario.yaml) |" not in page
    ] == []
