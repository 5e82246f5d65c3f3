"""``lint --fix``, ``--diff`` and what other programs read of ``lint``."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scenario_kit import __version__
from scenario_kit.catalog import find_data_root
from scenario_kit.cli import run
from scenario_kit.lint import RULES

ROOT = find_data_root()
TEXT = (ROOT / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml").read_text()
SLIP = TEXT.replace("deployment-scaled-to-zero", "deployment-scaled-to-zeor")
#: One mistake that can be corrected, and one that cannot.
BOTH = SLIP.replace("title: Carts", "title: TODO carts")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.yaml"
    path.write_text(SLIP)
    return path


def test_fix_corrects_file_and_prints_changes(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", "--fix", str(path)]) == 0

    out = capsys.readouterr().out
    assert path.read_text() == TEXT
    assert f"fixed SK108 {path}:19:11: there is no fault type 'deployment-scaled-to-zeor'" in out
    assert out.endswith("1 fix applied; 1 scenario checked: no findings\n")


def test_fix_exit_code_reflects_remaining_findings(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(BOTH)

    assert run(["lint", "--fix", str(path)]) == 1

    out = capsys.readouterr().out
    assert path.read_text() == TEXT.replace("title: Carts", "title: TODO carts")
    assert "SK602 error" in out
    assert "1 fix applied; 1 scenario checked: 1 error" in out


def test_fix_does_not_touch_a_valid_file(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(TEXT)
    before = path.stat()

    assert run(["lint", "--fix", str(path)]) == 0
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert "0 fixes applied" in capsys.readouterr().out


def test_fix_has_json(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(BOTH)

    assert run(["lint", "--fix", str(path), "--format", "json"]) == 1

    document = json.loads(capsys.readouterr().out)
    assert [f["code"] for f in document["fixed"]] == ["SK108"]
    assert [f["code"] for f in document["findings"]] == ["SK602"]


def test_diff_is_applicable_and_writes_nothing(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", "--diff", str(path)]) == 1

    captured = capsys.readouterr()
    assert path.read_text() == SLIP
    removed = [line for line in captured.out.splitlines() if re.match(r"[-+] ", line)]
    assert removed == ["-    type: deployment-scaled-to-zeor", "+    type: deployment-scaled-to-zero"]
    assert "1 fix possible; 1 scenario checked: no findings after fixing" in captured.err


def test_diff_of_a_good_file_is_empty(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(TEXT)

    assert run(["lint", "--diff", str(path)]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("more", [["--fix"], ["--format", "json"]])
def test_diff_is_for_reading_only(path: Path, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", "--diff", *more, str(path)]) == 3
    assert "--diff cannot be combined" in capsys.readouterr().err


def test_sarif_structure_suits_code_scanning(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = path.rename(path.with_name("my scenario.yaml"))
    path.write_text(BOTH)

    assert run(["lint", str(path), "--format", "sarif"]) == 1

    document = json.loads(capsys.readouterr().out)
    assert (document["version"], document["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    (one,) = document["runs"]
    driver = one["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("scenario-kit", __version__)
    assert [rule["id"] for rule in driver["rules"]] == ["SK108", "SK602"]
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] == RULES[rule["id"]].title
        assert rule["fullDescription"]["text"]
        assert rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] == "error"
    lines = path.read_text().splitlines()
    for result in one["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == "error"
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"]["uri"].endswith("/my%20scenario.yaml")
        assert 1 <= place["region"]["startLine"] <= len(lines)
        assert 1 <= place["region"]["startColumn"] <= len(lines[place["region"]["startLine"] - 1])


def test_sarif_without_findings_is_a_run_without_results(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(TEXT)

    assert run(["lint", str(path), "--format", "sarif"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["runs"]
    assert (one["results"], one["tool"]["driver"]["rules"]) == ([], [])


def test_pre_commit_hook_lints_given_files(path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (hook["id"], hook["language"]) == ("scenario-kit-lint", "python")
    for name, meant in {
        "scenario.yaml": True,
        "catalog/scenarios/a/scenario.yaml": True,
        "my-scenario.yaml": False,
        "scenario.yaml.bak": False,
        "a/scenario-yaml": False,
    }.items():
        assert bool(re.search(hook["files"], name)) == meant

    program, *arguments = shlex.split(hook["entry"])
    installed = Path(sys.executable).with_name(program)
    command = [str(installed), *arguments, "--fix", str(path)]
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    again = subprocess.run([str(installed), *arguments, str(path)], capture_output=True, text=True, check=False)

    assert (first.returncode, path.read_text()) == (0, TEXT), first.stderr
    assert (again.returncode, again.stdout) == (0, "1 scenario checked: no findings\n"), again.stderr
