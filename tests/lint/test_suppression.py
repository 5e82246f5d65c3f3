"""A scenario silences few findings, for half a year at most, and each stays in sight."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from scenario_kit.campaign import QUICK, ValidationSubject, conclude
from scenario_kit.lint import CHECKS, RULES
from scenario_kit.lint.framework.suppression import SUPPRESSIBLE, find_latest_month, get_today, list_active
from scenario_kit.model import Finding, Severity, Verdict
from scenario_kit.model.authored.scenario import Suppression
from scenario_kit.report import html, markdown
from scenario_kit.report.document import Report, dump_report
from tests.lint.test_rules import base, lint

DAY = date(2027, 1, 15)


@pytest.mark.parametrize(
    ("code", "until", "reason", "counts"),
    [
        ("SK432", "2027-01", "no user sees it", True),
        ("SK432", "2027-07", "no user sees it", True),
        ("SK432", "2027-08", "no user sees it", False),
        ("SK432", "9999-12", "no user sees it", False),
        ("SK432", "2026-12", "no user sees it", False),
        ("SK432", "2027-02", " ", False),
        ("SK211", "2027-02", "no user sees it", False),
        ("SK125", "2027-02", "no user sees it", False),
        ("SK303", "2027-02", "no user sees it", False),
    ],
)
def test_suppression_is_active_until_its_month(code: str, until: str, reason: str, counts: bool) -> None:
    assert (code in list_active([Suppression(code=code, reason=reason, until=until)], DAY)) == counts


def test_suppressible_codes_are_few_and_documented() -> None:
    assert len(SUPPRESSIBLE) <= 8
    assert all(code in RULES and "Scenario" in CHECKS.get(code, {}) and why for code, why in SUPPRESSIBLE.items())
    assert all(RULES[code].severity != Severity.ERROR or code == "SK602" for code in SUPPRESSIBLE)


def lint_suppressed(tmp_path: Path) -> Finding:
    """Lint a scenario without a decoy that suppresses the finding with a reason."""
    document = base()
    document["spec"].pop("decoys")
    document["spec"]["suppress"] = [
        {"code": "SK432", "reason": "nobody would try", "until": str(find_latest_month(get_today()))}
    ]
    (finding,) = lint(document, tmp_path)
    return finding


def test_suppressed_finding_is_a_note_with_reason_and_expiry(tmp_path: Path) -> None:
    finding = lint_suppressed(tmp_path)

    assert (finding.code, finding.severity) == ("SK432", Severity.NOTE)
    assert finding.message.startswith(f"suppressed until {find_latest_month(get_today())} (nobody would try): ")


def test_every_report_format_shows_suppressions(tmp_path: Path) -> None:
    finding = lint_suppressed(tmp_path)
    validation = conclude(ValidationSubject("x", "x/scenario.yaml", "", QUICK), [], [finding], 1.0)
    report = Report(created="2027-01-15T00:00:00", kubernetes="", engine="", validation=validation)

    assert validation.verdict != Verdict.FAIL
    for form in (dump_report(report), markdown.render(report), html.render(report)):
        assert "nobody would try" in form
    assert json.loads(dump_report(report))["validation"]["findings"][0]["code"] == "SK432"


STRICT = sorted(code for code, r in RULES.items() if code not in SUPPRESSIBLE)


@pytest.mark.parametrize("codes", [STRICT[i : i + 16] for i in range(0, len(STRICT), 16)], ids=lambda codes: codes[0])
def test_other_codes_cannot_be_suppressed(codes: list[str], tmp_path: Path) -> None:
    document = base()
    document["spec"]["suppress"] = [
        {"code": c, "reason": "known", "until": str(find_latest_month(get_today()))} for c in codes
    ]

    assert [f.code for f in lint(document, tmp_path)] == ["SK609"] * len(codes)
