"""Apply the rules to one file: first those about single files, and those that compare files once all have been read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.discovery import AnyCase, list_held_types, open_case
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.evaluation.comparison import COMPARING, render_entry
from scenario_kit.lint.framework.rule import CHECKS, RULES, Problem, Rule
from scenario_kit.lint.framework.suppression import check_stale, get_today, list_active, note_suppression
from scenario_kit.lint.similarity.index import ScenarioIndex
from scenario_kit.lint.similarity.index_entry import IndexEntry
from scenario_kit.load import LocatedFinding, Mistaken
from scenario_kit.model import Finding, Severity

_ORDER: Final = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


class Judged(NamedTuple):
    """The findings of the rules about single files, and of a scenario the data to compare."""

    found: tuple[LocatedFinding, ...]
    case: LintContext | None = None
    entry: IndexEntry | None = None


def judge_file(path: Path, text: str | None, catalog: Catalog) -> Judged:
    """Check one file, or ``text`` as if the file contained it.

    Raises:
        UsageError: there is no such file.
    """
    try:
        case = open_case(path, catalog, text)
    except Mistaken as error:
        return Judged(tuple(mistake._replace(finding=_complete(mistake.finding)) for mistake in error.mistakes))
    except AuthoringError as error:
        return Judged(tuple(LocatedFinding(_complete(finding)) for finding in error.findings))
    found = tuple(_apply_own_rules(case))
    if not isinstance(case, LintContext):
        return Judged(found)
    # The rules that compare files need no rendered app, and a thousand of them would exhaust the memory.
    light = replace(
        case, app=None, objects=None, alerts=None, types={}, faults={}, unrendered=(), unbroken=(), unrepaired=()
    )
    return Judged(found, light, render_entry(case, case.catalog))


def judge(case: AnyCase) -> list[Finding]:
    """Return the findings of all rules about single files, worst first; suppressed ones are notes."""
    found = _apply_own_rules(case)
    return [mistake.finding for mistake in _rank_findings(case, found)]


def settle_findings(file: Judged, index: ScenarioIndex | None) -> list[LocatedFinding]:
    """Add the findings of comparison, and return all, worst first; suppressed ones are notes."""
    if file.case is None:
        return sorted(file.found, key=_rank)
    case = replace(file.case, index=index, entry=file.entry)
    found = [*file.found, *_apply_rules(case, COMPARING)]
    codes = {mistake.finding.code for mistake in found}
    found += [_build_mistake(case, RULES["SK606"], problem) for problem in check_stale(case, codes)]
    return _rank_findings(case, found)


def _rank_findings(case: AnyCase, found: Iterable[LocatedFinding]) -> list[LocatedFinding]:
    """Sort the findings, worst first, and turn suppressed ones into notes."""
    silenced = list_active(case.scenario.spec.suppress, get_today()) if isinstance(case, LintContext) else {}
    shown = (note_suppression(m, silenced[m.finding.code]) if m.finding.code in silenced else m for m in found)
    return sorted(shown, key=_rank)


def _apply_own_rules(case: AnyCase) -> Iterator[LocatedFinding]:
    """Apply the rules that compare nothing: to a case, and to each fault type that a scenario holds."""
    codes = [code for code in CHECKS if code not in COMPARING]
    yield from _apply_rules(case, codes)
    if isinstance(case, LintContext):
        for held in list_held_types(case):
            # Edits are about a file of its own.
            yield from (mistake._replace(edits=()) for mistake in _apply_rules(held, codes))


def _apply_rules(case: AnyCase, codes: Iterable[str]) -> Iterator[LocatedFinding]:
    for code in sorted(codes):
        if check := CHECKS[code].get(case.kind):
            for problem in check(case):
                yield _build_mistake(case, RULES[code], problem)


def _build_mistake(case: AnyCase, entry: Rule, problem: Problem) -> LocatedFinding:
    finding = Finding(
        code=entry.code,
        severity=problem.severity or entry.severity,
        message=problem.message,
        position=problem.position or case.positions.value(*problem.place),
        observed=problem.observed,
        expected=problem.expected,
        why=entry.why,
        fix=problem.fix or entry.fix,
    )
    return LocatedFinding(finding, problem.edits)


def _complete(finding: Finding) -> Finding:
    entry = RULES[finding.code]
    return msgspec.structs.replace(finding, why=finding.why or entry.why, fix=finding.fix or entry.fix)


def _rank(mistake: LocatedFinding) -> tuple[int, int, int, str]:
    finding, position = mistake.finding, mistake.finding.position
    place = (position.line, position.column) if position else (0, 0)
    return (_ORDER.index(finding.severity), *place, finding.code)
