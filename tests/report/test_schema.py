"""The published schema of reports accepts written reports and rejects others."""

import json
from pathlib import Path

import jsonschema
import pytest

from scenario_kit.campaign import Validation
from scenario_kit.model import Finding, Position, Severity, Verdict
from scenario_kit.report import Report, read_report, write_report

SCHEMA = json.loads((Path(__file__).parents[2] / "schema" / "report.schema.json").read_text())
JUDGE = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture
def written(tmp_path):
    finding = Finding(
        code="SK322", severity=Severity.ERROR, message="x", position=Position(path="scenario.yaml", line=3, column=4)
    )
    validation = Validation(scenario="s", plan="quick", verdict=Verdict.FAIL, headline="x", findings=(finding,))
    _, folder = write_report(Report(validation=validation), tmp_path)
    return folder / "report.json"


def test_report_schema_is_valid():
    JUDGE.check_schema(SCHEMA)


def test_written_report_conforms(written):
    document = json.loads(written.read_text())
    assert list(JUDGE.iter_errors(document)) == []
    assert document["schemaVersion"] == 1
    assert read_report(written).validation.scenario == "s"


@pytest.mark.parametrize(
    "change", [{"validation": None}, {"schemaVersion": "one"}, {"validation": {"verdict": "Fine"}}]
)
def test_malformed_report_is_rejected(written, change):
    assert list(JUDGE.iter_errors(json.loads(written.read_text()) | change))
