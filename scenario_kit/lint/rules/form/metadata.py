"""SK6: texts, owners, licence and suppressions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework import name_fixes
from scenario_kit.lint.framework.rule import RULES, Problem, register_rule
from scenario_kit.lint.framework.suppression import LONGEST, SUPPRESSIBLE, build_drop_edit, find_latest_month, get_today
from scenario_kit.load import did_you_mean
from scenario_kit.load.yaml.edit import Drop, Put
from scenario_kit.model import Severity

#: Licences that a catalogue can take over: permissive ones, and public domain.
LICENCES = ("Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "CC0-1.0", "ISC", "Unlicense")
#: Words that a text needs to say what happens.
_LEAST = {"title": 2, "description": 3, "brief": 3}
_PLACEHOLDERS = re.compile(
    r"\b(TODO|FIXME|TBD|XXX|lorem ipsum|to be (specified|written|done)|changeme)\b|^(…|\.\.\.)$", re.I
)


@register_rule(
    "SK601",
    why="without a licence, nobody may run or change the scenario",
    bad="license: ''",
    good="license: Apache-2.0",
    fix=f"use one of {', '.join(LICENCES)}",
    repair="writes the intended licence, where only one is close",
)
def check_licence(case: LintContext) -> Iterator[Problem]:
    """The licence is missing or unknown."""
    named = case.scenario.spec.license
    if named and named not in LICENCES:
        place, message = ("spec", "license"), f"unknown licence '{named}'"
        fix, edits = did_you_mean(named, LICENCES), name_fixes.fix_name(place, named, LICENCES)
        yield Problem(place, message, named, fix=fix, edits=edits)
    elif not named and case.merged:
        yield Problem(("spec",), "the scenario has no licence")


@register_rule(
    "SK602",
    why="the text says nothing",
    bad="description: TODO",
    good="description: A rolled-back release left the Service with the port of the new one.",
    fix="write the text",
)
def check_placeholders(case: LintContext) -> Iterator[Problem]:
    """Placeholder text."""
    for place, text in case.positions.texts.items():
        if _PLACEHOLDERS.search(text) and place[-1] in ("title", "description", "brief", "because", "reason", "name"):
            yield Problem(place, f"'{text[:60]}' is a placeholder", text[:60])
    for name, least in _LEAST.items() if case.merged else ():
        text = str(getattr(case.scenario.spec, name))
        if 0 < len(text.split()) < least:
            message = f"the {name} is too short to say anything: '{text}'"
            yield Problem(("spec", name), message, f"{len(text.split())} words", f"at least {least} words")


@register_rule(
    "SK603",
    why="somebody must answer for it when it breaks",
    bad="authors: []",
    good="authors: [{name: Ada, github: ada}]",
    fix="add spec.authors",
)
def check_owner(case: LintContext) -> Iterator[Problem]:
    """The scenario has no author."""
    if case.merged and not case.scenario.spec.authors:
        yield Problem(("spec",), "the scenario has no authors")
    for i, author in enumerate(case.scenario.spec.authors):
        if not author.name.strip():
            yield Problem(("spec", "authors", i, "name"), "an author without a name", expected="a name")


@register_rule(
    "SK604",
    why="a verdict without checks would be worthless",
    bad="domain: finops",
    good="domain: sre",
    fix="write `domain: sre`",
    repair="writes `domain: sre`",
)
def check_domain(case: LintContext) -> Iterator[Problem]:
    """The domain has no checks yet."""
    if case.scenario.spec.domain != "sre":
        message, edits = f"domain '{case.scenario.spec.domain}' is not supported yet", (Put(("spec", "domain"), "sre"),)
        yield Problem(("spec", "domain"), message, edits=edits)


@register_rule(
    "SK605",
    why="without it, a solver is not told that anything is wrong",
    bad="brief: ''",
    good="brief: Customers report that product pages have been failing for a few minutes.",
    fix="add spec.brief: what users or alerts report",
)
def check_brief_present(case: LintContext) -> Iterator[Problem]:
    """A merged scenario lacks its brief."""
    if case.merged and not case.scenario.spec.brief.strip():
        yield Problem(("spec",), "the scenario has no brief")


@register_rule(
    "SK608",
    why="whoever applies it waits for an incident that never comes",
    bad="suspend: true",
    good="suspend: false   # or leave it out",
    fix="drop `suspend`; who only wants to store a scenario sets it where it is applied",
    repair="drops it",
)
def check_suspended(case: LintContext) -> Iterator[Problem]:
    """A merged scenario is suspended."""
    place = ("spec", "suspend")
    if case.merged and case.scenario.spec.suspend:
        yield Problem(place, "the scenario only gets stored: it is suspended", "true", "false", edits=(Drop(place),))


@register_rule(
    "SK606",
    why="it would hide the next finding of its kind",
    bad="suppress: [{code: SK999, reason: …, until: 2020-01}]",
    good="suppress: []",
    fix="drop it, or correct its code or date",
    repair="drops it",
    severity=Severity.WARNING,
)
def check_unused_suppressions(case: LintContext) -> Iterator[Problem]:
    """A suppression that silences nothing."""
    month = get_today().strftime("%Y-%m")
    for i, entry in enumerate(case.scenario.spec.suppress):
        place, drop = ("spec", "suppress", i), build_drop_edit(case, i)
        if entry.code not in RULES:
            message, fix = f"there is no rule '{entry.code}'", did_you_mean(entry.code, RULES)
            yield Problem((*place, "code"), message, fix=fix, edits=drop)
        elif entry.code in SUPPRESSIBLE and entry.until < month:
            yield Problem((*place, "until"), f"the suppression of {entry.code} ended with {entry.until}", edits=drop)


@register_rule(
    "SK609",
    why="what judges truth, leaks, security, duplicates or the life cycle is no matter of taste",
    bad="suppress: [{code: SK211, reason: the brief is meant so, until: 2027-01}]",
    good="suppress: []   # and a brief that does not name the cause",
    fix="drop it and correct what the finding is about; `scenario-kit explain CODE` says what may be suppressed",
    repair="drops it",
)
def check_insuppressible(case: LintContext) -> Iterator[Problem]:
    """A suppression of a finding that no scenario may silence."""
    for i, entry in enumerate(case.scenario.spec.suppress):
        if entry.code in RULES and entry.code not in SUPPRESSIBLE:
            message, desired = f"{entry.code} cannot be suppressed", f"one of {', '.join(SUPPRESSIBLE)}"
            place = ("spec", "suppress", i, "code")
            yield Problem(place, message, entry.code, desired, edits=build_drop_edit(case, i))


@register_rule(
    "SK610",
    why="an exception that nobody has to look at again, or that nobody can judge, is a rule switched off",
    bad="suppress: [{code: SK432, reason: ' ', until: 9999-12}]",
    good="suppress: [{code: SK432, reason: the node has one pod and no user, until: 2027-02}]",
    fix=f"say why, and until when: at most {LONGEST.days} days ahead",
)
def check_unbounded(case: LintContext) -> Iterator[Problem]:
    """A suppression has no reason, or no near end."""
    last = find_latest_month(get_today())
    for i, entry in enumerate(case.scenario.spec.suppress):
        if entry.code in SUPPRESSIBLE and not entry.reason.strip():
            place = ("spec", "suppress", i, "reason")
            yield Problem(place, f"the suppression of {entry.code} has no reason", "a blank", "a reason")
        if entry.code in SUPPRESSIBLE and entry.until > last:
            place = ("spec", "suppress", i, "until")
            yield Problem(place, f"the suppression of {entry.code} ends too late", entry.until, f"{last} at the latest")
