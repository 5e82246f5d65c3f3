"""SK601 to SK611: texts, authors, licence and suppressions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import PackCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework import name_fixes
from scenario_kit.lint.framework.rule import RULES, Problem, register_check
from scenario_kit.lint.framework.suppression import SUPPRESSIBLE, build_drop_edit, find_latest_month, get_today
from scenario_kit.load.yaml.edit import Drop, Put
from scenario_kit.model import Position
from scenario_kit.model.authored.month import Month
from scenario_kit.model.spelling import did_you_mean

#: Permissive licences, and public domain.
LICENCES = ("Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "CC0-1.0", "ISC", "Unlicense")
#: The category of controls, and the bidirectional classes of characters that reverse the text beside them.
_UNREADABLE = frozenset({"Cc", "LRO", "RLO", "LRE", "RLE", "PDF", "LRI", "RLI", "FSI", "PDI"})
#: Minimum number of words.
_MIN_WORDS = {"title": 2, "description": 3, "brief": 3}
_PLACEHOLDERS = re.compile(
    r"\b(TODO|FIXME|TBD|XXX|lorem ipsum|to be (specified|written|done)|changeme)\b|^(…|\.\.\.)$", re.I
)
#: An account on GitHub: letters and digits, and single hyphens between them.
_ACCOUNT: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}")
#: Minimum number of letters of a reason, in any language.
_MIN_LETTERS: Final = 6


@register_check("SK601")
def check_licence(case: LintContext) -> Iterator[Problem]:
    named = case.scenario.spec.license
    if named and named not in LICENCES:
        place, message = ("spec", "license"), f"unknown licence '{named}'"
        fix, edits = did_you_mean(named, LICENCES), name_fixes.fix_name(place, named, LICENCES)
        yield Problem(place, message, named, fix=fix, edits=edits)
    elif not named and case.merged:
        yield Problem(("spec",), "the scenario has no licence")


@register_check("SK602")
def check_placeholders(case: LintContext) -> Iterator[Problem]:
    for place, text in case.positions.texts.items():
        if _PLACEHOLDERS.search(text) and place[-1] in ("title", "description", "brief", "because", "reason", "name"):
            yield Problem(place, f"'{text[:60]}' is a placeholder", text[:60])
    for name, least in _MIN_WORDS.items() if case.merged else ():
        text = str(getattr(case.scenario.spec, name))
        if 0 < len(text.split()) < least:
            message = f"the {name} is too short: '{text}'"
            yield Problem(("spec", name), message, f"{len(text.split())} words", f"at least {least} words")


@register_check("SK603")
def check_owner(case: LintContext) -> Iterator[Problem]:
    if case.merged and not case.scenario.spec.authors:
        yield Problem(("spec",), "the scenario has no authors")
    for i, author in enumerate(case.scenario.spec.authors):
        kinds = {unicodedata.category(c) for c in author.name} | {unicodedata.bidirectional(c) for c in author.name}
        if not kinds.isdisjoint(_UNREADABLE) or not any(character.isalnum() for character in author.name):
            message = "an author without a name that can be read"
            yield Problem(("spec", "authors", i, "name"), message, expected="a name in visible characters")
        if author.github and not _ACCOUNT.fullmatch(author.github):
            message, expected = f"GitHub has no account '{author.github}'", "letters, digits and single hyphens"
            yield Problem(("spec", "authors", i, "github"), message, author.github, expected, "write the account alone")


@register_check("SK604")
def check_domain(case: LintContext) -> Iterator[Problem]:
    if case.scenario.spec.domain != "sre":
        message, edits = f"domain '{case.scenario.spec.domain}' is not supported yet", (Put(("spec", "domain"), "sre"),)
        yield Problem(("spec", "domain"), message, edits=edits)


@register_check("SK611", "Scenario", "Pack")
def check_open_questions(case: LintContext | PackCase) -> Iterator[Problem]:
    for question in case.positions.questions:
        position = Position(path=case.positions.path, line=question.line + 1, column=question.column + 1)
        yield Problem((), f"to decide: {question.text}", position=position)


@register_check("SK605")
def check_brief_present(case: LintContext) -> Iterator[Problem]:
    if case.merged and not case.scenario.spec.brief.strip():
        yield Problem(("spec",), "the scenario has no brief")


@register_check("SK608")
def check_suspended(case: LintContext) -> Iterator[Problem]:
    place = ("spec", "suspend")
    if case.merged and case.scenario.spec.suspend:
        yield Problem(place, "the scenario is suspended", "true", "false", edits=(Drop(place),))


@register_check("SK606")
def check_unused_suppressions(case: LintContext) -> Iterator[Problem]:
    month = Month.of_day(get_today())
    for i, entry in enumerate(case.scenario.spec.suppress):
        place, drop = ("spec", "suppress", i), build_drop_edit(case, i)
        if entry.code not in RULES:
            message, fix = f"there is no rule '{entry.code}'", did_you_mean(entry.code, RULES)
            yield Problem((*place, "code"), message, fix=fix, edits=drop)
        elif entry.code in SUPPRESSIBLE and entry.until < month:
            yield Problem((*place, "until"), f"the suppression of {entry.code} ended with {entry.until}", edits=drop)


@register_check("SK609")
def check_insuppressible(case: LintContext) -> Iterator[Problem]:
    for i, entry in enumerate(case.scenario.spec.suppress):
        if entry.code in RULES and entry.code not in SUPPRESSIBLE:
            message, desired = f"{entry.code} cannot be suppressed", f"one of {', '.join(SUPPRESSIBLE)}"
            place = ("spec", "suppress", i, "code")
            yield Problem(place, message, entry.code, desired, edits=build_drop_edit(case, i))


@register_check("SK610")
def check_unbounded(case: LintContext) -> Iterator[Problem]:
    last = find_latest_month(get_today())
    for i, entry in enumerate(case.scenario.spec.suppress):
        if entry.code in SUPPRESSIBLE and sum(map(str.isalpha, entry.reason)) < _MIN_LETTERS:
            place, written = ("spec", "suppress", i, "reason"), entry.reason.strip() or "an empty text"
            yield Problem(place, f"the suppression of {entry.code} has no reason", written, "a reason")
        if entry.code in SUPPRESSIBLE and entry.until > last:
            place = ("spec", "suppress", i, "until")
            yield Problem(place, f"the suppression of {entry.code} ends too late", entry.until, f"{last} at the latest")
