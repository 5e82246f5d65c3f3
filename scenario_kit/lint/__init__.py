"""Static rules. ``lint_file`` judges one scenario, fault, app or alert pack, without a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint import (  # noqa: F401 - each module registers its rules
    alerts,
    chain,
    experiments,
    labels,
    leaks,
    lifetime,
    loading,
    metadata,
    mitigation,
    overlap,
    probes,
    procedures,
    references,
    running,
    selection,
    service_map,
    shape,
    staging,
    truth,
)
from scenario_kit.lint.case import Case
from scenario_kit.lint.opening import AnyCase, lintable, opened
from scenario_kit.lint.page import rule_page, rules_page
from scenario_kit.lint.rule import RULES, UNSUPPRESSABLE, Problem, Rule
from scenario_kit.load import Mistake, Mistaken
from scenario_kit.model import Finding, Severity

__all__ = ["RULES", "Rule", "lint_file", "lint_text", "lintable", "rule_page", "rules_page"]

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


def lint_file(path: Path, catalog: Catalog | None = None) -> list[Finding]:
    """Every finding about a file, worst first. A file that cannot be loaded is judged no further.

    Raises:
        UsageError: there is no such file.
    """
    return [mistake.finding for mistake in _studied(path, None, catalog)]


def lint_text(text: str, path: Path, catalog: Catalog | None = None) -> list[Mistake]:
    """What ``lint_file`` would find if ``path`` held ``text``, each finding with the edits that correct it."""
    return _studied(path, text, catalog)


def judge(case: AnyCase) -> list[Finding]:
    """The findings of all rules about a case, without those that it suppresses."""
    return [mistake.finding for mistake in _judged(case)]


def _studied(path: Path, text: str | None, catalog: Catalog | None) -> list[Mistake]:
    try:
        case = opened(path, catalog or Catalog(), text)
    except Mistaken as error:
        return [Mistake(_complete(mistake.finding), mistake.edits) for mistake in error.mistakes]
    except AuthoringError as error:
        return [Mistake(_complete(finding)) for finding in error.findings]
    return _judged(case)


def _judged(case: AnyCase) -> list[Mistake]:
    silenced = set(_silenced(case)) if isinstance(case, Case) else set()
    found = [mistake for mistake in _applied(case) if mistake.finding.code not in silenced]
    return sorted(found, key=_rank)


def _applied(case: AnyCase) -> Iterator[Mistake]:
    for code in sorted(RULES):
        entry = RULES[code]
        if check := entry.checks.get(case.kind):
            for problem in check(case):
                yield Mistake(_finding(case, entry, problem), problem.edits)


def _finding(case: AnyCase, entry: Rule, problem: Problem) -> Finding:
    return Finding(
        code=entry.code,
        severity=problem.severity or entry.severity,
        message=problem.message,
        position=problem.position or case.positions.value(*problem.place),
        observed=problem.observed,
        expected=problem.expected,
        why=entry.why,
        fix=problem.fix or entry.fix,
    )


def _complete(finding: Finding) -> Finding:
    entry = RULES[finding.code]
    return msgspec.structs.replace(finding, why=finding.why or entry.why, fix=finding.fix or entry.fix)


def _silenced(case: Case) -> Iterator[str]:
    month = datetime.now(UTC).strftime("%Y-%m")
    for entry in case.scenario.spec.suppress:
        if entry.until >= month and not entry.code.startswith(UNSUPPRESSABLE):
            yield entry.code


def _rank(mistake: Mistake) -> tuple[int, int, int, str]:
    finding, position = mistake.finding, mistake.finding.position
    place = (position.line, position.column) if position else (0, 0)
    return (_ORDER.index(finding.severity), *place, finding.code)
