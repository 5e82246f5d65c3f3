"""Privilege escalation attempts: lint and the operator refuse each, regardless of a fault's declarations."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from operators.scenario.resolution import resolve_scenario
from scenario_kit.catalog import Catalog
from scenario_kit.lint import RULES, lint_text
from tools.admission.attempts import Attempt, build_fault, build_scenario, list_declarations, load_attempts
from tools.admission.page import PAGE, update_tables
from tools.admission.tried import ADMISSION, judge_by_lint, judge_by_operator

CATALOG = Catalog()
EVERY = pytest.mark.parametrize("attempt", load_attempts(), ids=lambda a: a.name)


def test_attempts_cover_every_admission_code() -> None:
    assert len(load_attempts()) >= 90
    assert {a.code for a in load_attempts()} == set(ADMISSION)


def test_page_lists_every_attempt() -> None:
    assert update_tables(PAGE.read_text()) == PAGE.read_text(), "run ci/attempts --page"


@EVERY
def test_lint_and_operator_refuse_with_same_code_and_reason(attempt: Attempt) -> None:
    document = build_scenario(attempt.changes)
    message = judge_by_lint(document, CATALOG)

    assert attempt.code in message
    assert judge_by_operator(document, CATALOG) == message
    assert resolve_scenario(CATALOG, document).runbook is None


@pytest.mark.parametrize("attempt", load_attempts()[::9], ids=lambda a: a.name)
def test_solution_is_judged_like_a_decoy(attempt: Attempt) -> None:
    refused = resolve_scenario(CATALOG, build_scenario(attempt.changes, "solutions"))

    assert attempt.code in {f.code for f in refused.errors}


@EVERY
def test_declaration_allows_declarable_attempts_only(attempt: Attempt) -> None:
    text = yaml.safe_dump(build_fault(attempt.changes, **list_declarations()))
    mistakes = lint_text(text, Path("/nowhere/catalog/faults/port-closed/fault.yaml"), CATALOG)

    refused = {m.finding.code for m in mistakes if m.finding.code in ADMISSION}
    assert bool(refused) == (not attempt.declared), refused


@pytest.mark.parametrize("code", ADMISSION)
def test_admission_findings_cannot_be_suppressed(code: str) -> None:
    attempt = next(a for a in load_attempts() if a.code == code)
    document = build_scenario(attempt.changes)
    document["spec"]["suppress"] = [{"code": code, "reason": "It is meant so", "until": "2027-01"}]

    assert code in {f.code for f in resolve_scenario(CATALOG, document).errors}
    assert RULES[code].severity == "Error"
