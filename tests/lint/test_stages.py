"""SK128: a cause that a stage takes back needs no repair."""

from pathlib import Path

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_text

FILE = Path(__file__).parents[1] / "fixtures" / "language" / "stage-that-ends" / "scenario.yaml"


def test_cause_cannot_end_by_itself() -> None:
    text = FILE.read_text().replace("    lastsSeconds: 300\n    role: Distractor\n", "    lastsSeconds: 300\n")
    found = [each.finding for each in lint_text(text, FILE, Catalog()) if each.finding.code == "SK128"]
    assert [f.message for f in found] == ["fault 'late-ads' is a cause, but is removed after 300 s"]
    assert found[0].position is not None
    assert "lastsSeconds" in text.splitlines()[found[0].position.line - 1]
