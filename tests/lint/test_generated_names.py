"""A scenario that was renamed: its solutions have names in them that were drawn for the former one."""

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft
from scenario_kit.lint import lint_text
from scenario_kit.lint.fix import fix_text
from scenario_kit.load import LocatedFinding
from scenario_kit.model import Reference

CATALOG = Catalog(merging=True)


def draft_renamed(fault: str, target: str) -> str:
    text = draft(
        Answers("otel-demo", "2.2.0", Reference.parse(f"Deployment/{target}"), fault, name="former"), CATALOG
    ).text
    assert study(text, "former") == []
    return text.replace("name: former", "name: later", 1)


def study(text: str, folder: str = "later") -> list[LocatedFinding]:
    found = lint_text(text, Path("/nowhere/scenarios") / folder / "scenario.yaml", CATALOG)
    return [mistake for mistake in found if mistake.finding.severity == "Error"]


@pytest.mark.parametrize(
    ("fault", "target", "code", "prefix"),
    [
        ("init-container-hang", "email", "SK133", "setup"),
        ("priority-preemption", "kafka", "SK121", "batch"),
    ],
)
def test_generated_name_of_other_scenario_is_fixed(fault, target, code, prefix):
    text = draft_renamed(fault, target)
    reported = study(text)
    assert {mistake.finding.code for mistake in reported} == {code}
    assert all(f"write `{prefix}-" in mistake.finding.fix for mistake in reported)
    result = fix_text(text, study)
    assert {finding.code for finding in result.corrected} == {code}
    assert result.left == ()
    assert study(result.text) == []


def test_handwritten_names_are_not_corrected():
    text = draft(
        Answers("otel-demo", "2.2.0", Reference("Deployment", "email"), "init-container-hang", name="former"), CATALOG
    ).text
    old = next(line for line in text.splitlines() if "$patch" in line)
    wrong = text.replace(old, old.replace(old.split("name: ")[1].split(",")[0], "setup"))
    (reported,) = study(wrong, "former")
    assert reported.finding.fix == "drop the change, or change what the fault changed"
    assert fix_text(wrong, lambda text: study(text, "former")).corrected == ()
