"""One mistake gives one finding without its consequences, and ``[*]`` marks what --fix corrects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli import run
from scenario_kit.lint import drop_consequential, lint_text
from scenario_kit.lint.fix import fix_file
from scenario_kit.load import LocatedFinding
from scenario_kit.load.yaml.document import parse
from scenario_kit.model import Finding, Severity

SCENARIOS = find_data_root() / "catalog" / "scenarios"
CATALOG = Catalog()


def slips(text: str) -> Iterator[tuple[str, str]]:
    """Every word of a scenario with one letter too many: a field's name, or a text."""
    positions = parse(text, "f.yaml").positions
    lines = text.split("\n")
    for place in [*positions.texts, *positions._keys]:
        at = positions.value(*place) if place in positions.texts else positions.key(*place)
        line, start = lines[at.line - 1], at.column - 1
        if word := re.match(r"[\w./-]+", line[start:]):
            slip = line[:start] + word[0] + "x" + line[start + len(word[0]) :]
            yield ".".join(map(str, place)), "\n".join([*lines[: at.line - 1], slip, *lines[at.line :]])


@pytest.mark.parametrize("name", ["product-catalog-wrong-target-port", "valkey-cart-network-delay"])
def test_typo_in_a_name_gives_one_error(name: str) -> None:
    path = SCENARIOS / name / "scenario.yaml"
    many = {}
    for place, text in slips(path.read_text()):
        found = drop_consequential(lint_text(text, path, CATALOG))
        if sum(f.severity == Severity.ERROR for f in found) > 1:
            many[place] = [(f.code, f.message) for f in found]
    assert many == {}


def finding(code: str, message: str = "", severity: Severity = Severity.ERROR) -> Finding:
    return Finding(code=code, severity=severity, message=message or code)


@pytest.mark.parametrize(
    ("codes", "shown"),
    [
        (["SK116"], ["SK116"]),
        (["SK114", "SK116"], ["SK114"]),
        (["SK131", "SK404", "SK416"], ["SK131"]),
        (["SK404", "SK416"], ["SK404", "SK416"]),
        (["SK123", "SK220"], ["SK123"]),
        (["SK220"], ["SK220"]),
    ],
)
def test_consequential_findings_are_dropped(codes: list[str], shown: list[str]) -> None:
    assert [f.code for f in drop_consequential([LocatedFinding(finding(code)) for code in codes])] == shown


def test_warning_hides_no_error() -> None:
    warning = finding("SK114", severity=Severity.WARNING)
    assert [f.code for f in drop_consequential([LocatedFinding(warning), LocatedFinding(finding("SK116"))])] == [
        "SK114",
        "SK116",
    ]


def write_scenario_with_errors(folder: Path) -> Path:
    """A scenario with three mistakes, two of which --fix corrects."""
    text = (SCENARIOS / "cart-scaled-to-zero" / "scenario.yaml").read_text()
    path = folder / "cart-scaled-to-zero" / "scenario.yaml"
    path.parent.mkdir()
    for right, wrong in (("scenariokit.io/v1alpha1", "v1"), ("  brief:", "  breif:"), ("Apache-2.0", "[3]")):
        assert text.count(right) == 1
        text = text.replace(right, wrong)
    path.write_text(text)
    return path


def test_marked_findings_are_those_that_fix_corrects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_scenario_with_errors(tmp_path)

    assert run(["lint", str(path)]) == 1
    out = capsys.readouterr().out
    corrected = fix_file(path, CATALOG).corrected
    for each in corrected:
        assert f"{each.code} error {each.position} [*]" in out
    assert out.count("[*]") == len(corrected) == 2
    assert out.splitlines()[-1].endswith("errors, 2 fixable with --fix")


def test_source_is_shown_with_a_caret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text("kind: Scenario\nmetadata: {name: ü\nspec:\n  title: x\n")

    assert run(["lint", str(path)]) == 1
    marked = "  2 | metadata: {name: ü\n    |           ^\n  3 | spec:\n    |     ^\n"
    assert marked in capsys.readouterr().out


def test_caret_stays_within_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "scenario.yaml"
    path.write_text(f"kind: Scenario\nx: [{'abc, ' * 100}: *y, {'abc, ' * 100}]\n")

    assert run(["lint", str(path)]) == 1
    shown = [line for line in capsys.readouterr().out.splitlines() if " | " in line]
    assert len(shown) == 2
    assert all(len(line) <= 80 for line in shown)
    column = shown[1].index("^")
    assert shown[0][column] in "*:"
