"""Former field names: findings, and ``lint --fix`` renames them and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint import lint_text
from scenario_kit.lint.fix import fix_file, rename_file
from scenario_kit.lint.renaming import rename_former
from scenario_kit.load import load_scenario

GOOD = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
CATALOG = Catalog()
SCENARIO, FAULT = Path("x/scenario.yaml"), Path("x/fault.yaml")

REWRITTEN = [
    (SCENARIO, "spec: {expect: {alerts: [{name: A, on: B}]}}", "spec: {expect: {alerts: [{name: A, entity: B}]}}"),
    (SCENARIO, "spec: {expect: {alerts: [{'on': B}]}}", "spec: {expect: {alerts: [{entity: B}]}}"),
    (SCENARIO, 'spec: {expect: {background: [{"on":B}]}}', 'spec: {expect: {background: [{"entity":B}]}}'),
    (SCENARIO, "spec: {faults: [{start: {onAlert: {on: B}}}]}", "spec: {faults: [{start: {onAlert: {entity: B}}}]}"),
    (SCENARIO, "spec: {expect: {checks: [{event: {on: B}}]}}", "spec: {expect: {checks: [{event: {entity: B}}]}}"),
    (SCENARIO, "spec: {expect: {alerts: [{'true': B}]}}", "spec: {expect: {alerts: [{entity: B}]}}"),
    (
        SCENARIO,
        "spec:\n  expect:\n    alerts:  # all\n    - on:   B   # here\n      name: 'x'\n",
        "spec:\n  expect:\n    alerts:  # all\n    - entity:   B   # here\n      name: 'x'\n",
    ),
    (
        SCENARIO,
        "spec: {expect: {alerts: [&a {name: A, on: B}, *a]}}",
        "spec: {expect: {alerts: [&a {name: A, entity: B}, *a]}}",
    ),
    (FAULT, 'symptoms: [{alert: A, "on": Self}]', "symptoms: [{alert: A, entity: Self}]"),
    (FAULT, 'effect: [{log: {"on": "{{ target }}"}}]', 'effect: [{log: {entity: "{{ target }}"}}]'),
    (
        FAULT,
        "solutions: [{changes: [], when: true}]\neffect: [{event: {on: x}, when: '{{ a }}'}]",
        "solutions: [{changes: [], when: true}]\neffect: [{event: {entity: x}, when: '{{ a }}'}]",
    ),
]


@pytest.mark.parametrize(("path", "old", "new"), REWRITTEN)
def test_former_names_are_rewritten(path: Path, old: str, new: str) -> None:
    renamed = rename_former(old, path)

    assert renamed.text == new
    assert renamed.corrected
    assert rename_former(new, path) == (new, ())


UNTOUCHED = [
    (SCENARIO, "spec: {faults: [{parameters: {on: x}}]}"),
    (SCENARIO, "spec: {app: {options: {on: x}}}"),
    (SCENARIO, "on: x"),
    (SCENARIO, "spec: {expect: {alerts: [{on: A, entity: B}]}}"),
    (SCENARIO, "spec: {expect: {alerts: [{on: A, entity: B}, {on: C}]}}"),
    (SCENARIO, "spec: {faults: [{parameters: &a {on: B}}], expect: {alerts: [*a]}}"),
    (SCENARIO, "spec: {expect: {alerts: [{on: A"),
    (SCENARIO, "- 1"),
    (SCENARIO, ""),
    (FAULT, "changes: [{create: {manifest: {event: {on: x}}}}]"),
    (FAULT, "description: 'event: {on: x}'"),
]


@pytest.mark.parametrize(("path", "text"), UNTOUCHED)
def test_only_former_names_are_rewritten(path: Path, text: str) -> None:
    assert rename_former(text, path) == (text, ())


def test_former_name_is_reported_with_its_position() -> None:
    text = GOOD.read_text().replace("entity: Deployment/frontend,", "on: Deployment/frontend,", 1)
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "on: Deployment/frontend," in each)

    (found,) = [mistake.finding for mistake in lint_text(text, GOOD, CATALOG)]

    assert (found.code, found.position.line) == ("SK102", line)
    assert found.position.column == text.splitlines()[line - 1].index("on:") + 1
    assert found.message == "`on` is now `entity` in `spec.expect.alerts[0]`"
    assert "lint --fix" in found.fix


def test_former_and_current_name_together_are_reported() -> None:
    text = GOOD.read_text().replace(
        "entity: Deployment/frontend,", "on: Deployment/ad, entity: Deployment/frontend,", 1
    )

    (found,) = [mistake.finding for mistake in lint_text(text, GOOD, CATALOG)]

    assert found.message == "`spec.expect.alerts[0]` has both: `on` is now `entity`"
    assert found.fix == "remove `on`"


def test_file_with_former_names_reports_its_other_mistakes() -> None:
    text = GOOD.read_text().replace("entity: Deployment/frontend,", "on: deployment frontend,", 1)

    codes = [mistake.finding.code for mistake in lint_text(text, GOOD, CATALOG)]

    assert codes == ["SK102", "SK104"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fixed_file_loads_identically(tmp_path: Path, end: str) -> None:
    path = tmp_path / GOOD.parent.name / "scenario.yaml"
    path.parent.mkdir()
    old = GOOD.read_text().replace("entity: Deployment/frontend,", "on: Deployment/frontend,")
    path.write_bytes(old.replace("\n", end).encode())

    for fixed in (rename_file(path), fix_file(path, CATALOG)):
        assert fixed.new == GOOD.read_text().replace("\n", end).encode()
        assert [finding.code for finding in fixed.corrected] == ["SK102"]
        assert not fixed.left
    path.write_bytes(fixed.new)
    assert load_scenario(path).scenario == load_scenario(GOOD).scenario


def test_hundreds_of_former_names_are_rewritten_at_once() -> None:
    old = "spec:\n  expect:\n    alerts:\n" + "    - {name: A, on: B}\n" * 800

    renamed = rename_former(old, SCENARIO)

    assert renamed.text == old.replace("on:", "entity:")
    assert len(renamed.corrected) == 800
