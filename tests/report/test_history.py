"""Past runs: listed, compared, and run again where they did not pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenario_kit.campaign import Validation
from scenario_kit.cli import run
from scenario_kit.model import Finding, Severity, Verdict
from scenario_kit.report import Report, write_report
from scenario_kit.report.history import compare, find_report, list_failed_files, list_past_runs


def build_validation(scenario: str, verdict: Verdict, *messages: str, plan: str = "quick") -> Validation:
    found = tuple(Finding(code="SK322", severity=Severity.ERROR, message=m) for m in messages)
    return Validation(scenario=scenario, plan=plan, verdict=verdict, headline="", findings=found, n=1)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    for validation in (
        build_validation("cart-down", Verdict.FAIL, "A did not fire"),
        build_validation("web-down", Verdict.PASS),
        build_validation("cart-down", Verdict.FAIL, "B did not fire"),
        build_validation("web-down", Verdict.FAIL),
        build_validation("web-down", Verdict.PASS),
    ):
        write_report(Report(validation=validation), folder)
    return folder


def test_runs_are_listed_newest_first(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "--runs", str(runs)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["web-down", "web-down", "cart-down", "web-down", "cart-down"]
    assert run(["runs", "--runs", str(runs), "--scenario", "cart-down", "--format", "json"]) == 0
    assert [(r["scenario"], r["verdict"]) for r in json.loads(capsys.readouterr().out)] == [("cart-down", "Fail")] * 2


def test_report_of_other_version_is_listed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (list_past_runs(runs)[0].folder / "report.json").write_text('{"schemaVersion": 0}')
    assert run(["runs", "--runs", str(runs)]) == 0
    assert "other version" in capsys.readouterr().out


def test_no_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "--runs", str(tmp_path)]) == 0
    assert "no runs in" in capsys.readouterr().out


def test_compare_lists_differences_of_two_runs(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new, old = (each.folder for each in list_past_runs(runs, "cart-down"))
    assert run(["runs", "diff", str(old), "cart-down", "--runs", str(runs)]) == 1
    out = capsys.readouterr().out
    assert "SK322 A did not fire" in out
    assert "SK322 B did not fire" in out
    assert "verdict" not in out
    assert run(["runs", "diff", str(new), "cart-down", "--runs", str(runs)]) == 0
    assert run(["runs", "diff", "nothing", "cart-down", "--runs", str(runs)]) == 3
    assert compare(find_report(str(old), runs), find_report("web-down", runs))[0] == (
        "scenario",
        "cart-down",
        "web-down",
    )


def test_rerun_failed_selects_failed_scenarios(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [Path(name) / "scenario.yaml" for name in ("cart-down", "web-down", "never-run")]
    assert list_failed_files(runs, files) == [files[0]]


def test_rerun_failed_without_failures_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenarios = tmp_path / "scenarios" / "web-down"
    scenarios.mkdir(parents=True)
    (scenarios / "scenario.yaml").write_text("kind: Scenario\n")
    assert run(["verify", str(scenarios), "--rerun-failed", "--runs", str(tmp_path / "runs")]) == 0
    assert "nothing to run" in capsys.readouterr().out
