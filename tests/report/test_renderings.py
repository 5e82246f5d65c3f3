"""The renderings for pull requests and for programs: Markdown, SARIF, JUnit."""

import json
import xml.etree.ElementTree as ET

import msgspec
import pytest

from scenario_kit.campaign import TrialResult, Validation
from scenario_kit.model import Finding, Position, Severity, StepStatus, Verdict
from scenario_kit.report import junit, markdown, sarif
from scenario_kit.report.document import Report
from scenario_kit.report.steps import build_step_rows

FINDING = Finding(
    code="SK322", severity=Severity.ERROR, message="it did not fire → so what", step="expectAlerts", trial="t0"
)


def report_of(trials, message="", findings=(FINDING,)):
    steps = tuple(
        StepStatus(index=i, step=f"step {i}", outcome="Broken", started_at=i, finished_at=i + 1, message=message)
        for i in range(20)
    )
    results = tuple(
        TrialResult(name=f"t{n}", purpose=f"repeat-{n}", describe="", seed=n, outcome="Broken", steps=steps,
                    findings=findings)
        for n in range(trials)
    )  # fmt: skip
    return Report(
        validation=Validation(
            scenario="s", path="catalog/scenarios/s/scenario.yaml", plan="quick", verdict=Verdict.FAIL, headline="x",
            findings=findings, trials=results, next="scenario-kit explain SK322",
        )
    )  # fmt: skip


def test_next_command_follows_headline():
    lines = [line for line in markdown.render(report_of(1)).splitlines() if line]
    assert lines[:3] == ["# FAIL: s", "x.", "Next: `scenario-kit explain SK322`"]


@pytest.mark.parametrize(("trials", "left_out"), [(1, 0), (15, 8)])
def test_long_comment_omits_whole_trials(trials, left_out):
    text = markdown.render(report_of(trials, message="→" * 200 if trials > 1 else ""))
    assert len(text.encode()) <= markdown.LIMIT
    assert text.count("<details>") == text.count("</details>") < trials + 1
    assert ("are omitted; see" in text) is bool(left_out)
    assert text.splitlines()[-1].startswith("<sub>")


def test_markdown_is_truncated_at_its_limit():
    many = [Finding(code="SK322", severity=Severity.ERROR, message=f"{n}" + "ö" * 500) for n in range(200)]
    text = markdown.render(report_of(1, findings=tuple(many)))
    assert len(text.encode()) <= markdown.LIMIT
    assert "see report.json for the rest" in text


def test_sarif_results_have_a_location():
    (run,) = json.loads(sarif.render(report_of(1)))["runs"]
    (found,) = run["results"]
    assert found["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "catalog/scenarios/s/scenario.yaml"},
        "region": {"startLine": 1, "startColumn": 1},
    }
    assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == found["ruleId"] == "SK322"


def test_sarif_paths_are_relative_to_the_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    file = tmp_path / "catalog" / "scenarios" / "s" / "scenario.yaml"
    file.parent.mkdir(parents=True)
    found = msgspec.structs.replace(FINDING, position=Position(path=str(file), line=7, column=3))
    for folder in (tmp_path, file.parent):
        (result,) = sarif.build_log([found], folder)["runs"][0]["results"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "catalog/scenarios/s/scenario.yaml"
        assert place["region"] == {"startLine": 7, "startColumn": 3}


def test_broken_trial_is_a_failure_for_junit():
    suite = ET.fromstring(junit.render(report_of(2))).find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")


def test_junit_failure_has_all_details():
    found = Finding(
        code="SK411", severity=Severity.ERROR, message="it does not clear", position=Position(path="s.yaml", line=3),
        step="expectCleared", observed="still firing", expected="clear after 300 s", fix="repair the cause",
    )  # fmt: skip
    rules, trial = ET.fromstring(junit.render(report_of(1, findings=(found,)))).findall(".//testcase")
    assert rules.get("name") == "rules and statistics"
    for case in (rules, trial):
        failure = case.find("failure")
        assert (failure.get("type"), failure.get("message")) == ("SK411", "SK411: it does not clear")
        assert failure.text.splitlines() == [
            "at: s.yaml:3:1", "step: expectCleared", "observed: still firing", "expected: clear after 300 s",
            "fix: repair the cause",
        ]  # fmt: skip


def test_invalid_xml_characters_are_replaced():
    found = Finding(code="SK411", severity=Severity.ERROR, message="red \x1b[31m ]]> <b> &", observed="\x00\x0b")
    (_, trial) = ET.fromstring(junit.render(report_of(1, findings=(found,)))).findall(".//testcase")
    assert trial.find("failure").get("message") == "SK411: red \ufffd[31m ]]> <b> &"


def test_skipped_steps_are_summarised():
    steps = [
        StepStatus(index=i, step=f"step {i}", outcome=outcome, started_at=0.0, finished_at=1.0)
        for i, outcome in enumerate(("Held", "Broken", "Skipped", "Skipped", "Skipped", "Held"))
    ]
    rows = list(build_step_rows(steps, 0.0))
    assert [(r.name, r.outcome) for r in rows] == [
        ("step 0", "Held"), ("step 1", "Broken"), ("3 steps", "Skipped"), ("step 5", "Held"),
    ]  # fmt: skip
    assert rows[2].message == "step 2, step 3, step 4"


def test_correction_precedes_next_command():
    report = report_of(1)
    changed = msgspec.structs.replace(report.validation, correction="SK322: promise what fires (s.yaml:3:1)")
    lines = [line for line in markdown.render(msgspec.structs.replace(report, validation=changed)).splitlines() if line]
    assert lines[2] == "Next: SK322: promise what fires (s.yaml:3:1); then `scenario-kit explain SK322`"
