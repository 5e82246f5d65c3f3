"""SK309: regular expressions written as globs; in PromQL they are fully anchored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase, PackCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.lint.rules.alerts.promql import list_matchers
from scenario_kit.load.yaml.edit import Put
from scenario_kit.model.json_document import Place

#: A star after a letter at the end of a name: a glob, since repeating that letter makes no sense.
_GLOB: Final = re.compile(r"(?<![\\\w-])([\w-]*[A-Za-z0-9_-])\*(?=$|\||\))")
#: Spaces around a bar, which would be part of the names.
_BLANKS: Final = re.compile(r"\s+\|\s*|\s*\|\s+|^\s+|\s+$")


@register_check("SK309", "Pack")
def check_globs(case: PackCase) -> Iterator[Problem]:
    for place, entry in case.groups():
        if isinstance(entry.get("expr"), str):
            yield from _check_expr((*place, "expr"), entry["expr"])


@register_check("SK309", "Scenario")
def check_globs_in_checks(case: LintContext) -> Iterator[Problem]:
    for place, text in case.positions.texts.items():
        if place[-1] == "expr" and "query" in place:
            yield from _check_expr(place, text)


@register_check("SK309", "Fault")
@report_once("message")
def check_globs_in_effect(case: FaultCase) -> Iterator[Problem]:
    for rendering in case.renderings:
        for place, check in rendering.checks():
            for problem in _check_expr((*place, "query", "expr"), check.query.expr if check.query else ""):
                yield problem._replace(edits=())  # the text is a template


def _check_expr(place: Place, expr: str) -> Iterator[Problem]:
    for matcher in list_matchers(expr):
        if matcher.operator not in ("=~", "!~"):
            continue
        meant = _GLOB.sub(r"\1.*", _BLANKS.sub(lambda found: "|" if "|" in found[0] else "", matcher.value))
        if meant != matcher.value:
            written, desired = (f'{matcher.label}{matcher.operator}"{v}"' for v in (matcher.value, meant))
            message = f"`{written}` is written as a glob, but is a fully anchored regular expression"
            edits = (Put(place, expr[: matcher.start] + meant + expr[matcher.end :]),)
            yield Problem(place, message, written, desired, f"write `{desired}`", edits=edits)
