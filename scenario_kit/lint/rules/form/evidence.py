"""SK607: outdated evidence."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.catalog.evidence import FILE, read_evidence
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.model import Position, Severity
from scenario_kit.render.scenarios.runbook import digest_incident, sort_faults


@register_check("SK607")
def check_outdated(case: LintContext) -> Iterator[Problem]:
    position = Position(path=str(case.path.with_name(FILE)))
    try:
        found = read_evidence(case.path)
    except AuthoringError as error:
        yield Problem((), error.message, fix=error.fix, position=position, severity=Severity.ERROR)
        return
    digest = digest_of(case) if found else ""
    if found and digest and (found.digest, found.scenario) != (digest, case.scenario.name):
        message = f"the evidence of {found.date} is of another version of the scenario"
        yield Problem((), message, found.digest[:12], digest[:12], position=position)


def digest_of(case: LintContext) -> str:
    """Compute the current digest of the scenario; empty if something it names cannot be found or rendered."""
    spec = case.scenario.spec
    if case.app is None or case.objects is None or case.alerts is None:
        return ""
    if set(case.faults) != {use.name for use in spec.faults}:
        return ""
    try:
        faults = [case.faults[use.name] for use in sort_faults(spec.faults)]
    except AuthoringError:
        return ""
    rules = [r for pack in spec.app.alert_packs for r in case.catalog.alert_pack(pack)]
    return digest_incident(spec, faults, rules, case.app, case.objects)
