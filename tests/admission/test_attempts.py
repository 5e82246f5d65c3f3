"""Privilege escalation attempts: lint and the operator refuse each, regardless of a fault's declarations."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from operators.scenario.resolution import resolve_scenario
from scenario_kit.catalog import Catalog
from scenario_kit.lint import RULES, lint_text
from tools.admission.attempts import Attempt, attempts, everything, fault, scenario
from tools.admission.page import PAGE, update_tables
from tools.admission.tried import ADMISSION, by_lint, by_operator

CATALOG = Catalog()
EVERY = pytest.mark.parametrize("attempt", attempts(), ids=lambda a: a.name)


def test_attempts_cover_every_admission_code() -> None:
    assert len(attempts()) >= 90
    assert {a.code for a in attempts()} == set(ADMISSION)


def test_page_lists_every_attempt() -> None:
    assert update_tables(PAGE.read_text()) == PAGE.read_text(), "run ci/attempts --page"


@EVERY
def test_lint_and_operator_refuse_with_same_code_and_reason(attempt: Attempt) -> None:
    document = scenario(attempt.changes)
    message = by_lint(document, CATALOG)

    assert attempt.code in message
    assert by_operator(document, CATALOG) == message
    assert resolve_scenario(CATALOG, document).runbook is None


@pytest.mark.parametrize("attempt", attempts()[::9], ids=lambda a: a.name)
def test_solution_is_judged_like_a_decoy(attempt: Attempt) -> None:
    refused = resolve_scenario(CATALOG, scenario(attempt.changes, "solutions"))

    assert attempt.code in {f.code for f in refused.errors}


@EVERY
def test_declaration_allows_declarable_attempts_only(attempt: Attempt) -> None:
    text = yaml.safe_dump(fault(attempt.changes, **everything()))
    mistakes = lint_text(text, Path("/nowhere/catalog/faults/port-closed/fault.yaml"), CATALOG)

    refused = {m.finding.code for m in mistakes if m.finding.code in ADMISSION}
    assert bool(refused) == (not attempt.declared), refused


@pytest.mark.parametrize("code", ADMISSION)
def test_admission_findings_cannot_be_suppressed(code: str) -> None:
    attempt = next(a for a in attempts() if a.code == code)
    document = scenario(attempt.changes)
    document["spec"]["suppress"] = [{"code": code, "reason": "It is meant so", "until": "2027-01"}]

    assert code in {f.code for f in resolve_scenario(CATALOG, document).errors}
    assert RULES[code].severity == "Error"
